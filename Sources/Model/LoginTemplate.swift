/// The answer to a login form: its target, and the fields for the user and the password.
public struct LoginTemplate: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public enum Part: Sendable, Equatable {
            case text(String)
            case user
            case password
        }

        public let name: String
        public let value: [Part]

        public init(name: String, value: [Part]) {
            self.name = name
            self.value = value
        }
    }

    /// A path, or a URL.
    public let action: String
    public let fields: [Field]
    /// Whether the fields are sent as a JSON object, and not as a form.
    public let isJSON: Bool

    public init(action: String, fields: [Field], isJSON: Bool = false) {
        self.action = action
        self.fields = fields
        self.isJSON = isJSON
    }
}
