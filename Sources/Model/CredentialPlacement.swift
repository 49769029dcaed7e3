/// A place of a credential in requests, other than the `Authorization` of RFC 7617 and RFC 6750.
public struct CredentialPlacement: Sendable, Hashable, CustomStringConvertible {
    public enum Place: Sendable, Hashable {
        /// A field of the head.
        case field(String)
        /// A parameter of the URL's query.
        case parameter(String)
        /// The place where a client has written this text: in `Authorization`, or in one of these fields.
        case placeholder(String, fields: [String])
    }

    public enum Part: Sendable, Hashable {
        case text(String)
        case user
        case password
        case token
    }

    public let place: Place
    public let value: [Part]

    /// Whether the credential goes where the client has written a placeholder.
    public var isPlaceholder: Bool { if case .placeholder = place { true } else { false } }

    public init(_ place: Place, value: [Part]) {
        self.place = place
        self.value = value
    }

    /// The place alone: the text around a secret in the rule file may be a secret too.
    public var description: String {
        switch place {
        case .field(let name): "header \(name)"
        case .parameter(let name): "query \(name)"
        case .placeholder: "placeholder"
        }
    }
}
