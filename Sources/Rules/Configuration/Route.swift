extension Configuration {
    /// `route PATTERN[:port] { … }`; the first that fits a request decides.
    public struct Route: Sendable, Equatable {
        public enum Action: String, Sendable {
            /// Forward a request; relay a CONNECT blindly.
            case tunnel
            /// Answer 403.
            case deny
        }

        public let host: HostPattern
        /// Nil for every port.
        public let port: UInt16?
        public let action: Action
        /// Decode gzip and deflate bodies for clients that did not ask for them.
        public let decodesContent: Bool
        public let rule: RuleReference
    }
}
