import Authentication
import Credentials
import IO
import Model
import Rules
import Testing

@testable import Proxy

/// A file system that holds one rule file.
private struct PlayedReader: SourceReader {
    let text: String

    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        guard path == "proxy.conf" else { throw .notFound }
        return Array(text.utf8)
    }

    func environment(_ name: String) -> String? { nil }
}

/// The policy of a rule file that must have no error. Its clients are those of this machine, and it keeps no log.
/// - Parameters:
///   - credentials: by name: user, and where the password comes from.
///   - identities: certificates with their keys.
///   - nonceKey: what `nonce-key` names.
func servicePolicy(
    _ rules: String = "", clients: String = "allow 127.0.0.0/8", egress: String = "allow loopback; connect-ports any",
    credentials: [String: (user: String, password: ValueSource)] = [:],
    identities: [ConfiguredCredential] = [],
    nonceKey: NonceKey? = nil
) throws -> ServicePolicy {
    let text = "listen 127.0.0.1:3128\nlog off\nclients { \(clients) }\negress { \(egress) }\n\(rules)\n"
    let file = try RuleFile("proxy.conf", from: PlayedReader(text: text))
    let configuration = try #require(file.configuration, Comment(rawValue: file.report))
    let configured = credentials.map {
        ConfiguredCredential(name: $0.key, user: .literal(RedactedText($0.value.user)), password: $0.value.password)
    }
    let known = ConfiguredCredentials(configured + identities, environment: [:])
    known.refresh()
    let rules = RuleSet(configuration)
    // The system's anchors take long to read, and nothing here is held against them.
    let trust = try TrustSources(rules)
    let accounts = try ClientAccounts(configuration.clients, nonceKey: nonceKey)
    #expect(accounts.refresh() == [])
    return ServicePolicy(Policy(rules: rules, credentials: known, trust: trust), clients: accounts)
}

/// The part of it that exchanges follow.
func policy(
    _ rules: String = "", clients: String = "allow 127.0.0.0/8", egress: String = "allow loopback; connect-ports any",
    credentials: [String: (user: String, password: ValueSource)] = [:],
    identities: [ConfiguredCredential] = []
) throws -> Policy {
    try servicePolicy(
        rules, clients: clients, egress: egress, credentials: credentials, identities: identities
    ).exchanges
}

func sharedState() -> SharedState { SharedState(storage: MemoryCredentialStorage()) { _ in } }
