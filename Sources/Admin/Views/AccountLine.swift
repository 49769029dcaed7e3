import Authentication
import Bytes

/// An account as a line of text, by which a command gets the running proxy's knowledge.
public enum AccountLine {
    /// The limit of an account without samples in bytes: enough for several hundred servers.
    private static let limit = 64 << 10

    static func text(_ shared: Account.Shared) -> String {
        let owner = shared.owner == nil ? shared.version.isGrant ? "grant" : "" : "client"
        let account = Base64.encode(shared.account.withoutSamples.encoded(within: limit))
        return [
            account, String(shared.version.fingerprint, radix: 16), owner,
            Base64.encode(Array(shared.version.name.utf8)),
        ]
        .joined(separator: " ")
    }

    /// Nil for a line that is not an account.
    public static func account(_ line: some StringProtocol) -> Account.Shared? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, let bytes = Base64.decode(String(words[0])), let account = Account(encoded: bytes),
            let fingerprint = UInt128(words[1], radix: 16),
            let name = Base64.decode(words[3]).flatMap({ String(validating: $0, as: UTF8.self) })
        else { return nil }
        return Account.Shared(
            CredentialVersion(name: name, fingerprint: fingerprint, isGrant: words[2] == "grant"),
            broughtBy: words[2] == "client" ? "client" : nil, account, revision: 0)
    }
}
