import HTTP
import IO
import Transport

extension Requester {
    /// This client, as it waits for slow work that the request in `exchange` needs. To be called by the task that carries it out.
    func waiting(on exchange: Exchange) -> WaitingClient {
        stream.setDeadline(after: nil)
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { self.hasLeft(exchange) }
    }
}
