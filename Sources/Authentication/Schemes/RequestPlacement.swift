import Bytes
import Crypto
import Model

/// A credential in the places of requests that the rule file names.
public final class RequestPlacement: Sendable {
    public struct Item: Sendable {
        public let name: [UInt8]
        /// The value; of a parameter, encoded.
        public let value: Secret
    }

    /// The fields of the head.
    public let fields: [Item]
    /// The parameters of the URL's query.
    public let parameters: [Item]

    /// The value that goes where the client has written the credential's placeholder; nil if it has none.
    public let insertion: Secret?
    /// The credential's password or token. If it is in the query, no response may show it.
    public let secret: Secret?
    /// Whether it takes the place of an answer in `Authorization`.
    public let isInAuthorization: Bool
    /// Whether a program has made the fields as part of an answer. They then go wherever the answer goes.
    public let isGiven: Bool

    /// The limit of a field's value in bytes. `parameterLimit` is for values in URLs. Servers accept longer ones.
    private static let fieldLimit = 16 * 1024
    private static let parameterLimit = 4 * 1024

    init(of credential: Credential) throws(AuthenticationError) {
        var (fields, parameters) = ([Item](), [Item]())
        var insertion: Secret?
        for placement in credential.placements {
            let value = try Self.value(placement, of: credential)
            switch placement.place {
            case .field(let name): fields.append(Item(name: Array(name.utf8), value: value))
            case .parameter(let name): parameters.append(Item(name: Array(name.utf8), value: value))
            case .placeholder: insertion = value
            }
        }
        self.insertion = insertion
        self.fields = fields
        secret = credential.password ?? credential.token
        isInAuthorization = insertion != nil || fields.contains { $0.name.span.equalsIgnoringCase("authorization") }
        self.parameters = parameters
        isGiven = false
    }

    /// The fields that a program has given beside its answer.
    init(of given: GivenAnswer) {
        fields = given.fields.map { Item(name: Array($0.name.utf8), value: $0.value) }
        parameters = []
        insertion = nil
        secret = nil
        isInAuthorization = true
        isGiven = true
    }

    private static func value(
        _ placement: CredentialPlacement, of credential: Credential
    ) throws(AuthenticationError) -> Secret {
        let name = credential.version.name
        let isEncoded = if case .parameter = placement.place { true } else { false }
        var texts: [Secret] = []
        for part in placement.value {
            switch part {
            case .text(let text): texts.append(Secret(text))
            case .user: texts.append(Secret(credential.user ?? ""))
            case .password: if let password = credential.password { texts.append(password) }
            case .token:
                guard let token = credential.token, token.count > 0 else { throw .empty(credential: name) }
                texts.append(token)
            }
        }
        let count = texts.reduce(0) { $0 + $1.count }
        guard count <= (isEncoded ? parameterLimit : fieldLimit) else { throw .oversized(credential: name) }
        var bytes: [UInt8] = []
        // Reserved at once, since a growing array leaves copies behind.
        bytes.reserveCapacity(isEncoded ? 3 * count : count)
        var hasControl = false
        for text in texts {
            text.withBytes { text in
                for offset in 0..<text.count {
                    let byte = text[offset]
                    if byte < .space || byte == .delete { hasControl = true }
                    if isEncoded { PercentEncoding.append(byte, to: &bytes) } else { bytes.append(byte) }
                }
            }
        }
        let value = Secret(wiping: &bytes)
        // A value with a control character could end its line.
        if hasControl { throw .controlCharacter(credential: name) }
        return value
    }
}
