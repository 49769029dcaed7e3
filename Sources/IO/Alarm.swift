/// A deadline on its own, for what is not a channel: the next attempt of a race, the time-outs of a resolver.
public final class Alarm: Timed {
    private let ring: () -> Void
    /// Whether the alarm rang since it was last set.
    public private(set) var hasRung = false

    public init(on loop: EventLoop, ring: @escaping () -> Void) {
        self.ring = ring
        super.init(on: loop)
    }

    /// Rings `milliseconds` from now, forgetting an earlier setting.
    public func set(after milliseconds: Int) {
        hasRung = false
        setDeadline(after: milliseconds)
    }

    public func cancel() { loop.wheel.remove(self) }

    override func expire() {
        hasRung = true
        ring()
    }
}
