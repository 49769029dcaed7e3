extension Configuration {
    /// A limit of requests in a time: so many in each period, and so many at once after a pause.
    public struct RequestRate: Sendable, Equatable, CustomStringConvertible {
        public enum Period: String, Sendable {
            case second = "s"
            case minute = "m"
            case hour = "h"

            public var seconds: Int {
                switch self {
                case .second: 1
                case .minute: 60
                case .hour: 3600
                }
            }
        }

        /// The requests of a period, from 1 to 1,000,000.
        public let count: Int
        public let period: Period
        /// The requests that a client may make at once after a pause, from 1 to 1,000,000.
        public let burst: Int

        /// The rate as the rule file has it.
        public var description: String { "\(count)/\(period.rawValue) burst \(burst)" }
    }
}
