import Testing

@testable import Proxy

/// Requests that a client sends behind one another, and that the proxy answers itself.
struct PipelineTests {
    @Test(arguments: [
        ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 "),
        ("GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n\r\n", "HTTP/1.1 403 "),
        ("GET /path HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 400 "),
        ("POST http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 403 "),
    ])
    func `each is answered, in its place`(request: String, answer: String) async throws {
        let proxy = try RunningProxy(try servicePolicy("route denied.test { deny }"))
        let last = "OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 7\r\nConnection: close\r\n\r\n"
        let answers = try await proxy.answer(to: String(repeating: request, count: 300) + last)
        #expect(answers.components("HTTP/1.1 ") == 301)
        #expect(answers.components(answer) == (answer.contains("200") ? 301 : 300))
        #expect(answers.split(separator: "HTTP/1.1 ").last?.hasPrefix("200 ") == true)
    }
}

extension String {
    /// How often the text is in it.
    fileprivate func components(_ text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
