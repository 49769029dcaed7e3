import Bytes
import Crypto
import IO
import Testing

/// The thread that follows a store opens what others sealed, also in the moment in which the process ends.
struct ProcessEndTests {
    @Test(arguments: 1...8) func `threads that seal and open while the process ends do no harm`(attempt: Int) async {
        await #expect(processExitsWith: .success) {
            let key = try SealingKey.random()
            for _ in 0..<8 {
                let hasThread = SystemThread.start(name: "store") {
                    while true {
                        let box = try? key.seal(Secret("secret"), for: [1, 2, 3].span)
                        _ = try? box.map { try key.open($0.span, for: [1, 2, 3].span) }
                    }
                }
                #expect(hasThread)
            }
            Pause.milliseconds(100)
            ProcessEnd.leave(with: 0)
        }
    }
}
