import Testing

@testable import Admin

/// The tokens and sessions of the dashboard.
struct DashboardAccessTests {
    private let begin = ContinuousClock.now

    private func later(_ seconds: Int) -> ContinuousClock.Instant { begin.advanced(by: .seconds(seconds)) }

    @Test func `a token is good for one session, within ten minutes`() throws {
        let access = DashboardAccess()
        let first = try #require(access.makeToken(at: begin))
        let session = try #require(access.session(for: first, at: later(599)))
        #expect(access.admits(session, at: later(599)))
        #expect(access.session(for: first, at: later(599)) == nil)
        let second = try #require(access.makeToken(at: begin))
        #expect(access.session(for: second, at: later(600)) == nil)
        #expect(access.session(for: "", at: begin) == nil)
    }

    @Test func `a session needs its cookie and its key`() throws {
        let access = DashboardAccess()
        let one = try #require(access.makeSession(at: begin))
        let other = try #require(access.makeSession(at: begin))
        #expect(!access.admits(.init(cookie: one.cookie, key: other.key), at: begin))
        #expect(!access.admits(.init(cookie: one.key, key: one.cookie), at: begin))
        access.end(.init(cookie: one.cookie, key: other.key))
        #expect(access.admits(one, at: begin))
        access.end(one)
        #expect(!access.admits(one, at: begin) && access.admits(other, at: begin))
    }

    @Test func `a session ends when nobody uses it for half an hour, and after twelve hours`() throws {
        let access = DashboardAccess()
        let unused = try #require(access.makeSession(at: begin))
        let used = try #require(access.makeSession(at: begin))
        for minute in stride(from: 25, to: 12 * 60, by: 25) { #expect(access.admits(used, at: later(minute * 60))) }
        #expect(!access.admits(unused, at: later(30 * 60)))
        #expect(!access.admits(used, at: later(12 * 60 * 60)))
    }

    @Test func `of more sessions and tokens than there is room for the newest stay`() throws {
        let access = DashboardAccess()
        let sessions = try (0...DashboardAccess.sessionLimit).map { try #require(access.makeSession(at: later($0))) }
        let tokens = try (0...DashboardAccess.tokenLimit).map { try #require(access.makeToken(at: later($0))) }
        #expect(sessions.map { access.admits($0, at: later(100)) } == [false] + sessions.dropFirst().map { _ in true })
        #expect(
            tokens.map { access.session(for: $0, at: later(100)) != nil }
                == [false] + tokens.dropFirst().map { _ in true })
    }
}
