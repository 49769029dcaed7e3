/// Kerberos principals, as Kerberos writes them: `alice@EXAMPLE.COM`, `*@EXAMPLE.COM`, `HTTP/*@EXAMPLE.COM`. A `*` stands
/// for any run of characters of one component or of the realm, never for a slash: a pattern for users names no service and
/// no other instance of a user (RFC 4120 section 6.2). Case matters.
public struct PrincipalPattern: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private let components: [TextPattern]
    private let realm: TextPattern

    /// Every user of every realm that the keytab's trusts, and no service.
    public static let users = PrincipalPattern("*@*", ["*"], "*")

    /// Nil for what has no realm, or an empty component.
    public init?(_ text: String) {
        guard let (components, realm) = Self.parts(of: text), !realm.contains("@") else { return nil }
        self.init(text, components, realm)
    }

    private init(_ text: String, _ components: [String], _ realm: String) {
        description = text
        self.components = components.map { TextPattern($0) }
        self.realm = TextPattern(realm)
    }

    public func matches(_ principal: String) -> Bool {
        guard let (components, realm) = Self.parts(of: principal), components.count == self.components.count else {
            return false
        }
        return self.realm.matches(realm) && zip(self.components, components).allSatisfy { $0.matches($1) }
    }

    /// A character behind a backslash separates nothing (`krb5_unparse_name`).
    private static func parts(of text: String) -> (components: [String], realm: String)? {
        var components: [String] = []
        var component: [UInt8] = []
        var isEscaped = false
        for (offset, byte) in text.utf8.enumerated() {
            if !isEscaped, byte == UInt8(ascii: "/") || byte == UInt8(ascii: "@") {
                guard !component.isEmpty else { return nil }
                components.append(String(decoding: component, as: UTF8.self))
                component = []
                if byte == UInt8(ascii: "@") {
                    let realm = String(decoding: Array(text.utf8.dropFirst(offset + 1)), as: UTF8.self)
                    return realm.isEmpty ? nil : (components, realm)
                }
            } else {
                component.append(byte)
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            }
        }
        return nil
    }
}
