import Dispatch
import Synchronization
import Testing

@testable import Credentials

@Suite struct PasswordChecksTests {
    @Test func `who asks after a change does not get the answer of a check that began before`() async throws {
        let checks = PasswordChecks()
        let late = Mutex<Task<Bool, Never>?>(nil)
        let hasBegun = DispatchSemaphore(value: 0)
        let early = await checks.check(1) {
            checks.forget()
            late.withLock { late in
                late = Task {
                    await checks.check(1) {
                        hasBegun.signal()
                        return false
                    }
                }
            }
            _ = hasBegun.wait(timeout: .now() + 5)
            return true
        }
        #expect(early)
        let task = try #require(late.withLock { $0 })
        #expect(await task.value == false)
        #expect(checks.outcome(of: 1) == false)
    }
}
