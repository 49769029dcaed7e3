import Authentication
import Bytes
import GSSAPI
import Testing

@testable import Credentials

/// The time when a KDC is asked again after a failure. Tests with tickets need a KDC, and are elsewhere.
struct CachedTicketsTests {
    private static let service = ServiceName(host: "www.example.test")

    @Test func `a KDC that is away is asked again in a moment, one that refused never`() {
        var held = KerberosTickets.Cache()
        #expect(held.reasonToWait(at: 0) == nil)
        held.lack(.unavailable("away"), at: WallTime(seconds: 100))
        #expect(held.reasonToWait(at: WallTime(seconds: 101)) == .unavailable("away"))
        #expect(held.reasonToWait(at: WallTime(seconds: 102)) == nil)
        #expect(held.trouble == .unavailable("away"))
        held.lack(.refused("wrong"), at: WallTime(seconds: 102))
        #expect(held.reasonToWait(at: .distantFuture - 1) == .refused("wrong"))
        #expect(!held.isRenewalDue(at: .distantFuture - 1))
        // The password was set again, or the account unlocked.
        held.forgetRefusal()
        #expect(held.reasonToWait(at: WallTime(seconds: 103)) == nil && held.trouble == nil)
        held.lack(.unavailable("away"), at: WallTime(seconds: 103))
        held.forgetRefusal()
        #expect(held.reasonToWait(at: WallTime(seconds: 103)) == .unavailable("away"))
    }

    @Test func `a service that is not known stands in nobody's way`() {
        var held = KerberosTickets.Cache()
        held.lack(.unavailable("unknown"), for: Self.service, at: WallTime(seconds: 100))
        #expect(held.reasonToWait(for: Self.service, at: WallTime(seconds: 101)) == .unavailable("unknown"))
        #expect(held.reasonToWait(for: Self.service, at: WallTime(seconds: 102)) == nil)
        #expect(held.reasonToWait(for: ServiceName(host: "other.example.test"), at: WallTime(seconds: 101)) == nil)
        #expect(held.reasonToWait(at: WallTime(seconds: 101)) == nil)
    }

    @Test func `without tickets there is nothing to use, renew or renounce`() {
        var held = KerberosTickets.Cache()
        #expect(held.supply(for: Self.service, at: 0)?.ticket == nil)
        #expect(held.usableCache(at: 0)?.principal == nil)
        #expect(!held.isRenewalDue(at: 0))
        #expect(held.renounce(Self.service, at: WallTime(seconds: 100))?.ticket == nil)
    }
}
