import Credentials
import Model
import Rules
import TestPolicies
import Testing
import Upstream

@testable import Proxy

/// Like `policy`, with the settings for clients.
/// - Parameter nonceKey: what `nonce-key` names.
func servicePolicy(
    _ rules: String = "", clients: String = "allow 127.0.0.0/8", egress: String = "allow loopback; connect-ports any",
    credentials: [String: (user: String, password: ValueSource)] = [:],
    identities: [ConfiguredCredential] = [],
    nonceKey: NonceKey? = nil
) throws -> ServicePolicy {
    let exchanges = try policy(
        rules, clients: clients, egress: egress, credentials: credentials, identities: identities)
    let accounts = try ClientAccounts(exchanges.rules.configuration.clients, nonceKey: nonceKey)
    #expect(accounts.refresh() == [])
    return ServicePolicy(exchanges, clients: accounts)
}
