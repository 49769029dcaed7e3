extension Configuration {
    /// The access log.
    public struct Log: Sendable, Equatable {
        public enum Format: String, Sendable, CaseIterable {
            case json
            case common
            case off
        }

        public enum Destination: Sendable, Equatable {
            case standardOutput
            case standardError
            /// A path, resolved against the directory of the rule file that names it.
            case file(String)
        }

        public var format = Format.json
        public var destination = Destination.standardOutput

        public init() {}
    }
}
