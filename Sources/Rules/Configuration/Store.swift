extension Configuration {
    /// `store …`: where credentials are kept that outlive the process.
    public struct Store: Sendable, Equatable {
        public enum Place: Sendable, Equatable {
            /// A file.
            case sqlite(String)
            /// libpq's connection string, which may hold a password.
            case postgresql(ValueSource)
        }

        public let place: Place
        /// Seals the secrets; nil: a key that is made beside the file.
        public let key: ValueSource?
    }
}
