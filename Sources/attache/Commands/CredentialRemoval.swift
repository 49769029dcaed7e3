import Authentication
import Model

/// The removal of a stored credential.
struct CredentialRemoval {
    let space: ProtectionSpace
    let name: String
    /// Whether the space's challenges were answered with it.
    let wasDefault: Bool
    /// Another credential of the space, if there is one.
    let next: String?

    /// Nil where nothing but the credential is gone.
    ///
    /// - Parameter ruleFile: the one that was said.
    func sentence(ruleFile: String?) -> String? {
        guard wasDefault else { return nil }
        let loss = "\(name) was the default for \(CredentialListing.words(for: space))"
        guard let next else { return "\(loss): no stored credential answers there now" }
        let command = command(next, ruleFile).map(Self.quoted).joined(separator: " ")
        return "\(loss): none is now; this makes \(next) the next: \(command)"
    }

    private func command(_ next: String, _ ruleFile: String?) -> [String] {
        var words = ["attache", "credential", "default", CredentialListing.url(of: space), next]
        switch space.authenticationMethod {
        case .basic: break
        case .default: words += ["--method", "any"]
        default: words += ["--method", space.authenticationMethod.rawValue]
        }
        if let realm = space.realm { words += ["--realm", realm] }
        if space.isProxy, space.protocol != .socks { words += ["--proxy", "yes"] }
        if let ruleFile { words += ["--config", ruleFile] }
        return words
    }

    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_".utf8)

    /// A word as a shell takes it.
    private static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.utf8.allSatisfy(plain.contains)
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }
}
