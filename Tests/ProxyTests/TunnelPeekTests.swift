import Testing

@testable import Proxy

struct TunnelPeekTests {
    enum Event {
        case clientSends(String)
        case clientEnds
        case serverSpeaks
        case timePasses
    }

    /// Events, and the state after each of them.
    static let courses: [(String, [(Event, TunnelOpening.Peek)])] = [
        ("a client that speaks at once", [(.clientSends("GET / H"), .decided(.http))]),
        (
            "a client that speaks in pieces",
            [
                (.clientSends("GE"), .undecided), (.clientSends("GET "), .undecided),
                (.clientSends("GET /"), .decided(.http)),
            ]
        ),
        ("another protocol", [(.clientSends("SSH-2.0-x y"), .decided(.other))]),
        ("a server that greets", [(.timePasses, .silent), (.serverSpeaks, .decided(.other))]),
        ("a client that took its time", [(.timePasses, .silent), (.clientSends("GET /"), .decided(.http))]),
        (
            "a client that stops in the middle",
            [(.clientSends("GET"), .undecided), (.timePasses, .decided(.other))]
        ),
        ("a silence that goes on", [(.timePasses, .silent), (.timePasses, .silent)]),
        ("a client that only listens", [(.clientEnds, .decided(.other))]),
        ("a client that ends in the middle", [(.clientSends("GET"), .undecided), (.clientEnds, .decided(.other))]),
        ("an empty read", [(.clientSends(""), .quiet)]),
        (
            "what comes after the verdict",
            [
                (.clientSends("GET / "), .decided(.http)), (.timePasses, .decided(.http)),
                (.serverSpeaks, .decided(.http)), (.clientEnds, .decided(.http)),
                (.clientSends("SSH-2.0"), .decided(.http)),
            ]
        ),
    ]

    @Test(arguments: courses)
    func `the side that speaks first decides`(name: String, course: [(Event, TunnelOpening.Peek)]) {
        var peek = TunnelOpening.Peek.quiet
        for (event, expected) in course {
            switch event {
            case .clientSends(let text): peek.clientSpoke(text.utf8Span.span)
            case .clientEnds, .serverSpeaks: peek.giveUp()
            case .timePasses: peek.elapse()
            }
            #expect(peek == expected, "\(name): after \(event)")
        }
    }
}
