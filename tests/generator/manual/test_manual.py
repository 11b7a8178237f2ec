# SPDX-License-Identifier: Apache-2.0
"""Man pages and completion are made from the help, and shells and troff accept them."""
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from generator.cli import weft
from generator.manual.command import pages
from generator.manual.completion import SHELLS, VARIABLE, fabrics_and_errors, script
from generator.manual.exits import EXIT_CODES
from generator.manual.troff import page
from tests.generator.conftest import ROOT, Run


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages(weft)


def test_each_command_has_a_page_with_its_options_and_exit_codes(made: dict[str, str]) -> None:
    assert {f"weft-{name}.1" for name in weft.commands} < set(made)
    for name, command in weft.commands.items():
        text = made[f"weft-{name}.1"]
        sections = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
        assert [each for each in sections if each != "COMMANDS"] == [
            "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"]
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0].replace("-", "\\-") in text, (name, option.opts)
    assert all(f"weft\\-{name}" in made["weft.1"] for name in weft.commands)
    assert all(f".B {code}\n" in made["weft.1"] for code, _, _ in EXIT_CODES)
    assert "3\n" in made["weft-probe.1"].split("EXIT STATUS")[1]
    assert ".B 3\n" not in made["weft-explain.1"]


def test_references_are_to_pages_that_are_made(made: dict[str, str]) -> None:
    named = {each.replace("\\-", "-") for text in made.values()
             for each in re.findall(r"^\.B[R]? ([\w\\-]+?) ?\(1\)$", text, re.MULTILINE)}
    assert {f"{each}.1" for each in named} == set(made)


def test_troff_accepts_every_page(made: dict[str, str]) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not here")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input="".join(made.values()), capture_output=True,
                          text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "weft explain WEFT-C006" in plain and "./weft" not in plain


def test_text_is_no_command_of_troff() -> None:
    @click.command()
    def odd() -> None:
        """.so /etc/passwd

        'br and \\n[.T] stay text.

        \b
        .nx /etc/passwd
        """

    text = page(odd, "weft odd", "1", ("weft",))
    assert "\\&.so /etc/passwd" in text and "\\&'br and \\en[.T] stay text." in text and "\\&.nx" in text


def test_pages_are_written_and_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(weft, ("manual", "--output", str(tmp_path / "man" / "man1")))
    assert done.exit_code == 0
    assert (tmp_path / "man/man1/weft.1").read_text("utf-8") == pages(weft)["weft.1"]
    (tmp_path / "file").write_text("", "utf-8")
    done = CliRunner().invoke(weft, ("manual", "--output", str(tmp_path / "file" / "man1")))
    assert (done.exit_code, "cannot be written" in done.output) == (2, True)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_the_script(shell: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(weft, ("completion", shell))
    assert done.output == script(weft, shell) + "\n"
    assert f"{VARIABLE}={shell}_complete" in done.output
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    (tmp_path / "script").write_text(done.output, "utf-8")
    assert subprocess.run([shell, "-n", str(tmp_path / "script")], timeout=30, check=False).returncode == 0


def test_bash_completes_through_the_script(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "weft").symlink_to(ROOT / "weft")
    (tmp_path / "script").write_text(script(weft, "bash"), "utf-8")
    ask = ('PATH="$1/bin:$PATH"; . "$1/script"; COMP_WORDS=(weft explain tcp_r); COMP_CWORD=2; '
           '_weft_completion weft; echo "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", ask, "bash", str(tmp_path)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.stdout.split() == ["tcp_rdm", "tcp_rxm"], done.stderr


def test_commands_options_fabrics_and_ids_are_completed(weft: Run) -> None:
    def completed(words: str, at: int) -> list[str]:
        told = weft(env={VARIABLE: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}).stdout
        return [line.partition(",")[2] for line in told.splitlines()]

    assert completed("weft expl", 1) == ["explain"]
    context = click.Context(click.Command("explain"))
    argument = click.Argument(["fabric"])
    assert "sources" not in fabrics_and_errors(context, argument, "")
    assert fabrics_and_errors(context, argument, "tcp_") == ["tcp_rdm", "tcp_rxm"]
    assert "WEFT-C006" in fabrics_and_errors(context, argument, "WEFT-C0")
