import Bytes

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 section 11.3), unquoted.
public struct HeaderChallenge: Sendable, Hashable {
    /// One parameter: the name in lower case, the value without quotes and escapes, in the server's own encoding.
    public struct Parameter: Sendable, Hashable {
        public let name: String
        public let value: [UInt8]

        public init(name: String, value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// The scheme in lower case.
    public let scheme: String
    public let token68: String?
    /// The parameters in the order of the field; no name occurs twice.
    public let parameters: [Parameter]

    public init(scheme: String, token68: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// The value of a parameter; `name` in lower case.
    public subscript(name: String) -> [UInt8]? {
        // Names mostly differ in length, and lengths are quick to compare.
        let list = parameters.span
        for index in list.indices where list[index].name.utf8.count == name.utf8.count && list[index].name == name {
            return list[index].value
        }
        return nil
    }

    /// The value as text; bytes that are not UTF-8 become U+FFFD.
    public func text(_ name: String) -> String? {
        self[name].map { $0.span.text }
    }

    /// A copy of the challenge that has another nonce.
    func with(nonce: [UInt8]) -> HeaderChallenge {
        HeaderChallenge(
            scheme: scheme,
            parameters: parameters.map { $0.name == "nonce" ? Parameter(name: $0.name, value: nonce) : $0 })
    }

    public var realm: String? { text("realm") }

    /// The size of the texts, in bytes.
    var byteCount: Int {
        parameters.reduce(scheme.utf8.count + (token68?.utf8.count ?? 0)) { $0 + $1.name.utf8.count + $1.value.count }
    }

    /// Whether the parameter is the word `true`, in any case.
    func isTrue(_ name: String) -> Bool {
        self[name].map { $0.span.equalsIgnoringCase("true") } ?? false
    }
}
