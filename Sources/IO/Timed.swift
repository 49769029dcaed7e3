/// Something with a deadline on a loop's timer wheel.
///
/// Activity only stores a new deadline; the wheel looks at the entry when its slot comes round, and files it again
/// if the deadline has moved on. Only a deadline that moves *closer* costs a relink.
open class Timed {
    public internal(set) unowned(unsafe) final var loop: EventLoop
    /// Milliseconds on the loop's clock; 0 is no deadline.
    final var deadline: UInt64 = 0
    /// The tick whose slot holds this entry; 0 when it is in none.
    final var filedTick: UInt64 = 0
    unowned(unsafe) final var earlier: Timed?
    unowned(unsafe) final var later: Timed?

    init(on loop: EventLoop) { self.loop = loop }

    /// The wheel does not keep its entries alive, so the last reference is dropped on the loop's thread, as everything
    /// else about them is done there.
    deinit { loop.wheel.remove(self) }

    /// Called on the loop once the deadline has passed; the entry is in no slot by then.
    func expire() {}

    /// Sets the deadline `milliseconds` from now; nil takes it away.
    public final func setDeadline(after milliseconds: Int?) {
        guard let milliseconds else {
            deadline = 0
            return
        }
        deadline = loop.now &+ UInt64(clamping: milliseconds)
        if filedTick == 0 || deadline < filedTick &* TimerWheel.tick { loop.wheel.file(self) }
    }
}
