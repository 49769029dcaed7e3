import HTTP
import Testing

@testable import Upstream

struct RefusalTests {
    private static let failures: [(UpstreamConnection.Failure, Status, ProxyError)] = [
        (.died, .badGateway, .connectionTerminated),
        (.timedOut, .gatewayTimeout, .httpResponseTimeout),
        (.invalid(HTTPError(.upstream, .incomplete)), .badGateway, .httpResponseIncomplete),
        (.invalid(HTTPError(.upstream, .malformedStatusLine)), .badGateway, .httpProtocolError),
        (.invalid(HTTPError(.upstream, .headTooLarge(limit: 1))), .badGateway, .httpResponseHeaderSectionSize),
    ]

    @Test func `each failure of an upstream has its status and its error type`() {
        for (failure, status, error) in Self.failures {
            let refusal = Refusal(failure)
            #expect(refusal.status == status)
            #expect(refusal.error == error)
            #expect(refusal.keepsConnection)
        }
    }

    private static let defects: [(Defect, Status)] = [
        (.missingHost, .badRequest), (.startLineTooLong(limit: 1), .uriTooLong),
        (.headTooLarge(limit: 1), .requestHeaderFieldsTooLarge), (.unmetExpectation, .expectationFailed),
        (.unsupportedTransferCoding, .notImplemented), (.unsupportedVersion, .httpVersionNotSupported),
    ]

    @Test func `a request that is refused ends the client's connection`() {
        for (defect, status) in Self.defects {
            let refusal = Refusal(HTTPError(.client, defect))
            #expect(refusal.status == status)
            #expect(refusal.error == .httpRequestError)
            #expect(!refusal.keepsConnection)
        }
    }

    @Test func `a head or body that comes too late ends the client's connection`() {
        for refusal in [Refusal.lateHead, .lateBody] {
            #expect(refusal.status == .requestTimeout)
            #expect(!refusal.keepsConnection)
        }
    }

    @Test func `a sentence has no period and no second line`() {
        for refusal in Self.failures.map({ Refusal($0.0) }) + [.lateHead, .lateBody] {
            #expect(!refusal.sentence.hasSuffix("."))
            #expect(!refusal.sentence.contains("\n"))
        }
    }
}
