import Telemetry
import Testing

struct ProxyErrorTypeTests {
    @Test func `tokens are distinct and of RFC 9209's alphabet`() {
        let tokens = ProxyErrorType.allCases.map { "\($0.token)" }
        #expect(Set(tokens).count == tokens.count)
        for token in tokens { #expect(token.wholeMatch(of: #/[a-z][a-z_]+/#) != nil) }
    }
}
