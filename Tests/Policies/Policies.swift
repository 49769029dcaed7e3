import Authentication
import Credentials
import Model
import Rules
import TestSupport
import Upstream

/// The rule file of a test has an error: its report.
private struct RuleFileError: Error, CustomStringConvertible { let description: String }

/// The policy of a rule file that must have no error. Its clients are those of this machine, and it keeps no log.
/// - Parameters:
///   - credentials: by name: user, and where the password comes from.
///   - identities: certificates with their keys.
public func policy(
    _ rules: String = "", clients: String = "allow 127.0.0.0/8", egress: String = "allow loopback; connect-ports any",
    credentials: [String: (user: String, password: ValueSource)] = [:],
    identities: [ConfiguredCredential] = []
) throws -> Policy {
    let text = "listen 127.0.0.1:3128\nlog off\nclients { \(clients) }\negress { \(egress) }\n\(rules)\n"
    let file = try RuleFile("proxy.conf", from: RuleText(text))
    guard let configuration = file.configuration else { throw RuleFileError(description: file.report) }
    let configured = credentials.map {
        ConfiguredCredential(name: $0.key, user: .literal(RedactedText($0.value.user)), password: $0.value.password)
    }
    let known = ConfiguredCredentials(configured + identities, environment: [:])
    known.refresh()
    let rules = RuleSet(configuration)
    // The system's anchors take long to read, and nothing here is held against them.
    return Policy(rules: rules, credentials: known, trust: try TrustSources(rules))
}

/// Returns a state that has learned and stored nothing.
public func sharedState() -> SharedState { SharedState(storage: StoredCredentials()) { _ in } }
