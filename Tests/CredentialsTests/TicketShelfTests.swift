import Authentication
import GSSAPI
import Testing

@testable import Credentials

/// When a KDC is asked again that gave nothing. What is done with tickets needs a KDC, and is tried against one.
struct TicketShelfTests {
    private static let service = ServiceName(host: "www.example.test")

    @Test func `a KDC that is away is asked again in a moment, one that refused never`() {
        var shelf = TicketShelf()
        #expect(shelf.reasonToWait(at: 0) == nil)
        shelf.lack(.unavailable("away"), at: 100)
        #expect(shelf.reasonToWait(at: 101) == .unavailable("away"))
        #expect(shelf.reasonToWait(at: 102) == nil)
        #expect(shelf.trouble == .unavailable("away"))
        shelf.lack(.refused("wrong"), at: 102)
        #expect(shelf.reasonToWait(at: .max - 1) == .refused("wrong"))
        #expect(!shelf.isRenewalDue(at: .max - 1))
    }

    @Test func `a service that is not known stands in nobody's way`() {
        var shelf = TicketShelf()
        shelf.lack(.unavailable("unknown"), for: Self.service, at: 100)
        #expect(shelf.reasonToWait(for: Self.service, at: 101) == .unavailable("unknown"))
        #expect(shelf.reasonToWait(for: Self.service, at: 102) == nil)
        #expect(shelf.reasonToWait(for: ServiceName(host: "other.example.test"), at: 101) == nil)
        #expect(shelf.reasonToWait(at: 101) == nil)
    }

    @Test func `without tickets there is nothing to use, renew or renounce`() {
        var shelf = TicketShelf()
        #expect(shelf.supply(for: Self.service, at: 0)?.ticket == nil)
        #expect(shelf.usableCache(at: 0)?.principal == nil)
        #expect(!shelf.isRenewalDue(at: 0))
        #expect(shelf.renounce(Self.service, at: 100)?.ticket == nil)
    }
}
