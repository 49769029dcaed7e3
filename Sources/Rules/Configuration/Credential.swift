extension Configuration {
    /// `credential NAME { user …; password … }`.
    public struct Credential: Sendable, Equatable {
        public let name: String
        public let user: ValueSource
        public let password: ValueSource
        public let rule: RuleReference
    }
}
