import HTTP
import IO
import Transport

extension Requester {
    /// Whether nobody is there any more who could be answered. A client that has ended its side may still read, if it said
    /// that this is its last request: some tools end theirs with it.
    func hasLeft(during exchange: Exchange) -> Bool {
        // A request of the proxy's own has nobody at the other end.
        if exchange.own != nil { return false }
        let socket = stream.socket
        return !socket.isOpen || socket.isBroken || socket.hasPeerEnded && exchange.request.keepAlive
    }

    /// This client, as it waits for slow work that the request in `exchange` needs. To be called by the task that carries it out.
    func waiting(on exchange: Exchange) -> WaitingClient {
        stream.setDeadline(after: nil)
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { self.hasLeft(during: exchange) }
    }
}
