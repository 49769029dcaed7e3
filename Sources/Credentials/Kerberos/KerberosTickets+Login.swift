import Authentication
import GSSAPI
import IO

extension KerberosTickets {
    /// One login with a principal's tickets.
    final class Login: KerberosLogin {
        private let tickets: KerberosTickets
        private let service: KerberosService
        private let channel: ChannelBinding?
        private var context: InitiatingContext?

        init(with tickets: KerberosTickets, at service: KerberosService, over channel: ChannelBinding?) {
            self.tickets = tickets
            self.service = service
            self.channel = channel
        }

        /// The result of the first step.
        private typealias Beginning = Result<(InitiatingContext, [UInt8]), GSSAPIError>

        /// The threads for logins with cached tickets, apart from those that wait for a silent KDC.
        private static let pool = BlockingPool(threads: 2)

        func begin() async throws(TicketError) -> [UInt8] {
            let patience = KerberosTickets.Patience(service.terms.patience)
            let supply = try await tickets.supply(for: service, within: patience)
            let (delegates, channel) = (service.terms.delegates, channel?.applicationData)
            let work = { @Sendable () -> Beginning in
                Result { () throws(GSSAPIError) in
                    let context = try InitiatingContext(
                        supply.cache, to: supply.ticket, delegates: delegates, channel: channel)
                    guard case .continue(let token) = try context.step() else {
                        throw GSSAPIError(.unavailable, "there is nothing to prove to the service")
                    }
                    return (context, token)
                }
            }
            let expectation = Expectation<Beginning>()
            // With delegation, a new forwarded ticket is requested each time.
            (delegates ? tickets.pool : Self.pool).submit { if !expectation.isOver { expectation.fulfil(work()) } }
            switch await expectation.value(within: patience.rest) {
            case .success((let context, let token))?:
                self.context = context
                return token
            case .failure(let error)?: throw .unavailable(error.description)
            case nil: throw tickets.silence(patience)
            }
        }

        func answer(_ token: [UInt8]) -> KerberosStep {
            guard let context else { return .failed }
            do throws(GSSAPIError) {
                switch try context.step(token) {
                case .continue(let next): return .continue(next)
                case .established(let last?): return .continue(last)
                case .established(nil): return .established
                }
            } catch { return error.fault == .clockSkew ? .clockSkew : .failed }
        }

        func renounceTicket() -> Bool { tickets.renounce(service) }
    }
}
