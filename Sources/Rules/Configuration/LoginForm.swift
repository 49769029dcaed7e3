/// `form` in a `challenge`: how a login page is told from what was asked for, and what is sent to get past it.
public final class LoginForm: Sendable, Equatable {
    /// A response that holds a login page. What is not said does not matter.
    public struct Sign: Sendable, Equatable {
        public let status: Int?
        /// Of the `Location` field.
        public let location: TextPattern?
        /// In the page, after its content is decoded.
        public let text: String?
    }

    public struct Field: Sendable, Equatable {
        public enum Part: Sendable, Equatable {
            case text(String)
            case user
            case password
        }

        public let name: String
        public let value: [Part]
    }

    /// Alternatives; never empty.
    public let signs: [Sign]
    /// Where the form is sent, from the page: a path, or a URL of the same host.
    public let action: String
    /// Beside the page's own hidden fields.
    public let fields: [Field]

    public init(signs: [Sign], action: String, fields: [Field]) {
        self.signs = signs
        self.action = action
        self.fields = fields
    }

    public static func == (left: LoginForm, right: LoginForm) -> Bool {
        left === right || left.signs == right.signs && left.action == right.action && left.fields == right.fields
    }
}
