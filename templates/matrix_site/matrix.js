"use strict";
// Shows the rows that the form asks for. The form's state is kept behind the # of the address, so that it can be sent.
(() => {
  const form = document.getElementById("filters");
  const rows = [...document.querySelectorAll("#rows tbody tr")];
  // A family and a fact may have one name: atomics. The group tells them apart.
  const key = (group, name) => `${group} ${name}`;
  const names = [...document.querySelectorAll("#names dt")].map((name) => [name.dataset.group, name.textContent]);
  const meanings = new Map([...document.querySelectorAll("#names dt")]
    .map((name) => [key(name.dataset.group, name.textContent), name.nextElementSibling.textContent]));
  const compared = document.getElementById("compared");

  const asked = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));

  const withoutFabric = (row, state) => {
    const { name, group, trust, releases } = row.dataset;
    const text = `${name} ${name.replaceAll("_", " ")} ${meanings.get(key(group, name))}`.toLowerCase();
    const words = (state.get("words") || "").toLowerCase().split(/\s+/).filter(Boolean);
    return words.every((word) => text.includes(word))
      && (!state.has("group") || group === state.get("group"))
      && (!state.has("release") || releases.split(" ").includes(state.get("release")))
      && (!state.has("trust") || state.getAll("trust").includes(trust))
      && (!state.has("differs") || "differs" in row.dataset);
  };

  // What one fabric says about a name: each value with its trust, and the releases where there are several.
  const told = (found) => found.map((row) => {
    const [, , value, trust, releases] = [...row.cells].map((cell) => cell.textContent);
    return `${value} (${trust.trim()}${found.length > 1 ? `; ${releases}` : ""})`;
  }).join("; ");
  const values = (found) => found.map((row) => row.cells[2].textContent).join(";");

  const compare = (state) => {
    const sides = ["left", "right"].map((side) => state.get(side));
    compared.hidden = sides.includes(null);
    const body = compared.querySelector("tbody");
    body.replaceChildren();
    if (compared.hidden) return;
    const heads = compared.querySelectorAll("thead th");
    sides.forEach((fabric, index) => { heads[index + 1].textContent = fabric; });
    const fitting = rows.filter((row) => sides.includes(row.dataset.fabric) && withoutFabric(row, state));
    for (const [group, name] of names) {
      const found = sides.map((fabric) => fitting.filter((row) => row.dataset.group === group
        && row.dataset.name === name && row.dataset.fabric === fabric));
      const unlike = values(found[0]) !== values(found[1]);
      if (found.every((side) => side.length === 0) || (state.has("unlike") && !unlike)) continue;
      const line = body.insertRow();
      line.classList.toggle("unlike", unlike);
      line.insertCell().textContent = group === "answers" ? `${name} (answer)` : name;
      found.forEach((side) => { line.insertCell().textContent = side.length ? told(side) : "—"; });
    }
  };

  const show = () => {
    const state = asked();
    let shown = 0;
    for (const row of rows) {
      const fits = (!state.has("fabric") || state.getAll("fabric").includes(row.dataset.fabric))
        && withoutFabric(row, state);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    document.getElementById("count").textContent = `${shown} of ${rows.length} rows`;
    compare(state);
    return state;
  };

  // Fills the form from the address. What the form does not know is left out.
  const read = () => {
    form.reset();
    const state = new URLSearchParams(location.hash.slice(1));
    for (const field of form.elements) {
      if (field.type === "checkbox") field.checked = state.getAll(field.name).includes(field.value);
      else if (field.name && state.has(field.name)) field.value = state.get(field.name);
    }
  };

  const changed = () => { history.replaceState(null, "", `#${show()}`); };
  for (const event of ["input", "change"]) form.addEventListener(event, changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));
  window.addEventListener("hashchange", () => { read(); show(); });
  read();
  show();
})();
