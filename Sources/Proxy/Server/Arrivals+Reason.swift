import Bytes
import HTTP
import Rules
import Telemetry
import Upstream

extension Arrivals {
    /// Why a client is not served.
    enum Reason: Hashable, CaseIterable {
        /// `clients { allow … }` does not name its address.
        case foreignAddress
        /// As many clients are served as may be.
        case clients
        /// As many are served at its address.
        case address

        init(_ shortage: ClientCount.Shortage) {
            self =
                switch shortage {
                case .clients: .clients
                case .address: .address
                }
        }

        var counter: Counter {
            switch self {
            case .foreignAddress: .clientsRefusedByList
            case .clients: .clientsRefusedAtLimit
            case .address: .clientsRefusedAtAddressLimit
            }
        }

        func refusal(of address: IPAddress, by rules: RuleSet) -> Refusal {
            switch self {
            case .foreignAddress: return .client(at: address, by: rules.clients)
            case .clients: return Self.unavailable("this proxy has too many clients: try again")
            case .address:
                return Self.unavailable("this proxy has too many clients from your address: try again")
            }
        }

        private static func unavailable(_ sentence: String) -> Refusal {
            var refusal = Refusal(.serviceUnavailable, .connectionLimitReached, sentence)
            refusal.fields = [(name: "Retry-After", value: "1")]
            refusal.keepsConnection = false
            return refusal
        }
    }
}
