import Authentication
import Bytes
import IO
import Upstream

/// Does the work of accounts that no request starts: sends their probes, and wakes them when a retry is due. The
/// process has one.
public final class AccountWatch {
    private weak var upstreams: Upstreams?
    private var alarm: Alarm?
    /// The time of the next wake-up on the system's clock; nil if no retry is due.
    private var wakeTime: WallTime?

    private init(_ upstreams: Upstreams) { self.upstreams = upstreams }

    /// Starts the work on the loop of `upstreams`. It replaces the watch that ran before.
    public static func begin(over upstreams: Upstreams) {
        let (accounts, loop) = (upstreams.shared.spaces.accounts, upstreams.loop)
        let watch = LoopBound(AccountWatch(upstreams), to: loop)
        accounts.onProbe { probe in
            loop.submit { watch.value.make(probe) }
        }
        accounts.onWake { time in
            loop.submit { watch.value.wake(at: time) }
        }
    }

    private func make(_ probe: Evidence.Probe) {
        guard let upstreams else { return }
        let bound = LoopBound(upstreams, to: upstreams.loop)
        upstreams.loop.spawn { await ProbeExchange(probe, over: bound.value).run() }
    }

    private func wake(at time: WallTime) {
        guard let upstreams else { return }
        if let wakeTime, wakeTime <= time { return }
        let alarm = alarm ?? Alarm(on: upstreams.loop) { [unowned self] in ring() }
        self.alarm = alarm
        wakeTime = time
        alarm.set(after: max(1, time - upstreams.loop.wallTime))
    }

    private func ring() {
        wakeTime = nil
        guard let upstreams else { return }
        let accounts = upstreams.shared.spaces.accounts
        accounts.wake(at: upstreams.loop.wallTime)
        if let next = accounts.nextWake(after: upstreams.loop.wallTime) { wake(at: next) }
    }
}
