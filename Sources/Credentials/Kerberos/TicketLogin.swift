import Authentication
import GSSAPI
import IO

/// One login with a principal's tickets.
final class TicketLogin: KerberosLogin {
    private let tickets: KerberosTickets
    private let service: KerberosService
    private let channel: ChannelBinding?
    private var context: InitiatingContext?

    init(with tickets: KerberosTickets, at service: KerberosService, over channel: ChannelBinding?) {
        self.tickets = tickets
        self.service = service
        self.channel = channel
    }

    func begin() async throws(TicketError) -> [UInt8] {
        let supply = try await tickets.supply(for: service)
        let (delegates, channel) = (service.delegates, channel?.applicationData)
        let result = await KerberosTickets.pool.run { () -> Result<(InitiatingContext, [UInt8]), GSSAPIError> in
            do throws(GSSAPIError) {
                let context = try InitiatingContext(
                    supply.cache, to: supply.ticket, delegates: delegates, channel: channel)
                guard case .continue(let token) = try context.step() else {
                    return .failure(GSSAPIError(.unavailable, "there is nothing to prove to the service"))
                }
                return .success((context, token))
            } catch { return .failure(error) }
        }
        switch result {
        case .success((let context, let token)):
            self.context = context
            return token
        case .failure(let error): throw .unavailable(error.description)
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
        } catch { return .failed }
    }

    func renounceTicket() -> Bool { tickets.renounce(service) }
}
