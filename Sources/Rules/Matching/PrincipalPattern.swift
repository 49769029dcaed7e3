/// A pattern for Kerberos principals in their usual form: `alice@EXAMPLE.COM`, `*@EXAMPLE.COM`, `HTTP/*@EXAMPLE.COM`. A
/// `*` matches any characters of one component or of the realm, never a slash. A pattern for users thus matches no
/// service and no other instance of a user (RFC 4120 section 6.2). Case matters.
public struct PrincipalPattern: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private let components: [TextPattern]
    private let realm: TextPattern

    /// A pattern for every user of every realm that the keytab's realm trusts, and no service.
    public static let users = PrincipalPattern("*@*", ["*"], "*")

    /// Parses a pattern; nil if it has no realm, or an empty component.
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

    /// A character after a backslash separates nothing (`krb5_unparse_name`).
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
