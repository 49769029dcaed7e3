import Bytes
import Crypto
import IO
import Synchronization
import Testing

/// The thread that follows a store opens what others sealed, also in the moment in which the process ends.
struct ProcessEndTests {
    @Test(arguments: 1...8) func `threads that seal and open while the process ends do no harm`(attempt: Int) async {
        await #expect(processExitsWith: .success) {
            let key = try SealingKey.random()
            let rounds = Mutex(0)
            for _ in 0..<8 {
                let hasThread = SystemThread.start(name: "store") {
                    while true {
                        rounds.withLock { $0 += 1 }
                        let box = try? key.seal(Secret("secret"), for: [1, 2, 3].span)
                        _ = try? box.map { try key.open($0.span, for: [1, 2, 3].span) }
                    }
                }
                #expect(hasThread)
            }
            // All threads are at work by then.
            while rounds.withLock({ $0 }) < 1000 { Pause.take(1) }
            ProcessEnd.leave(with: 0)
        }
    }
}
