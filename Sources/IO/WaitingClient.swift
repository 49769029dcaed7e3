import Bytes

/// A client whose task waits on its loop for slow work.
public struct WaitingClient {
    /// Where it is from: with an IPv6 address somebody has a whole network of them.
    public let network: IPAddress
    let wakeup: Wakeup
    let loop: EventLoop
    let hasLeft: () -> Bool

    /// - Parameters:
    ///   - wakeup: of the client's task; events of its connection signal it as well.
    ///   - hasLeft: whether nobody is there any more who could be answered.
    public init(address: IPAddress, wakeup: Wakeup, on loop: EventLoop, hasLeft: @escaping () -> Bool) {
        network = address.network
        self.wakeup = wakeup
        self.loop = loop
        self.hasLeft = hasLeft
    }
}
