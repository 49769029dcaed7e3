import Admin
import Authentication
import Bytes
import Challenges
import Model

/// The removal of a stored credential.
struct CredentialRemoval {
    let space: ProtectionSpace
    let name: String
    /// Whether it was the default of the space.
    let wasDefault: Bool
    /// The name of another credential of the space; nil if none.
    let next: String?

    /// The sentence about the effects; nil if only the credential is gone.
    ///
    /// - Parameter ruleFile: the rule file on the command line.
    func sentence(ruleFile: String?) -> String? {
        guard wasDefault else { return nil }
        let loss = "\(name) was the default for \(space.words)"
        guard let next else { return "\(loss): no stored credential answers there now" }
        let command = command(next, ruleFile).map(ShellWord.quoted).joined(separator: " ")
        return "\(loss): now there is none; to use \(next), run: \(command)"
    }

    private func command(_ next: String, _ ruleFile: String?) -> [String] {
        let words = CredentialRemedy.command(to: "default", next, for: space)
        return ruleFile.map { words + ["--config", $0] } ?? words
    }
}
