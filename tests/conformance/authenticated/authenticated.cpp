// SPDX-License-Identifier: Apache-2.0
//
// authentication::shared_secret over a whole fabric: suites about meeting keep their promises with a secret, and a
// caller that knows another secret, or none, is refused before the listener's application hears of it. Hot path: no.
// Threads: one per side.
#include "../../../compose/authentication.hpp"
#include "../connecting.hpp"
#include "../environment.hpp"
#include "../messages.hpp"

#include <string>

namespace weft::conformance {

using authenticated_fabric = with<tested, answers::authentication::shared_secret>;
using plain_fabric = with<tested, answers::authentication::none>;
static_assert(consistent_fabric<authenticated_fabric>());
template <class F>
using environment_of = std::conditional_t<in_process<F>, simulated_environment<F>, live<F>>;

template <class Environment>
class authenticated : public suite<Environment> {};
TYPED_TEST_SUITE_P(authenticated);

/// A caller that must be refused: what connect() says.
template <class F>
std::string refused(test_side& side, const std::string& where, transport_options options) {
  auto net = opened<F>(side, options);
  side.at("connect without the secret");
  const auto met = net.connect(where, patience);
  if (met) return "they met";
  EXPECT_EQ(met.why().code, errc::rejected);
  return met.error().sentence;
}

TYPED_TEST_P(authenticated, a_caller_without_the_secret_is_refused_and_one_with_it_meets) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        side.send_value(1, net.listen_address());
        observer seen;
        const peer met = one_request(side, net, seen);
        EXPECT_TRUE(net.accept(met));
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        const std::string where = side.wait_for_text(0);
        EXPECT_EQ(refused<fabric>(side, where, {.secret = secret("known to a stranger alone")}),
                  where +
                      " refused the connection: the shared secrets differ: give both sides the same "
                      "transport_options::secret [WEFT-O007]");
        EXPECT_EQ(refused<plain_fabric>(side, where, {}),
                  where +
                      " refused the connection: this listener asks for a shared secret, and the caller has none: "
                      "build the caller with authentication::shared_secret [WEFT-O007]");
        auto net = opened<fabric>(side);
        const auto met = net.connect(where, patience);
        EXPECT_TRUE(met) << met.error().sentence;
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(authenticated, a_caller_without_the_secret_is_refused_and_one_with_it_meets);

INSTANTIATE_TYPED_TEST_SUITE_P(secret, authenticated, environment_of<authenticated_fabric>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(secret, connecting, environment_of<authenticated_fabric>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(secret, messages, environment_of<authenticated_fabric>, fabric_name);

}  // namespace weft::conformance
