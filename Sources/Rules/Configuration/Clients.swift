import Bytes

extension Configuration {
    /// Who may use the proxy.
    public struct Clients: Sendable, Equatable {
        public enum Authentication: Sendable, Equatable {
            case none
            /// Basic challenges (RFC 7617) against a users file.
            case basic(users: ValueSource)
        }

        /// By default the machine itself only.
        public var allow: [AddressPrefix] = AddressClass.loopback.prefixes
        public var authentication = Authentication.none
        public var realm = "Attaché"

        public init() {}
    }
}
