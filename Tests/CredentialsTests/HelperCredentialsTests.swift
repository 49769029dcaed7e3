import Authentication
import Bytes
import Crypto
import IO
import Model
import Testing

@testable import Credentials

struct HelperCredentialsTests {
    /// The value has also ended for a thread that looked at the clock earlier.
    @Test func `a value that is used once keeps no other request from asking`() async throws {
        let answer = try HelperOutput.read(Array("authtype=Nonce\ncredential=1\nephemeral=1\n".utf8), as: .git)
        let helpers = HelperCredentials(time: .seconds(5))
        let key = HelperCredentials.Key(name: "c", server: nil)
        let before = SystemClock.wallTime - .minutes(1)
        let result = await helpers.read(key, keep: nil, besides: nil) {
            .success(.init(credential: Credential(name: "c", token: Secret("1")), answer: answer))
        }
        #expect(try result?.get().version.name == "c")
        #expect(helpers.wantsReading(key, besides: nil, at: before))
        #expect(helpers.current(key, at: before) == nil)
    }
}
