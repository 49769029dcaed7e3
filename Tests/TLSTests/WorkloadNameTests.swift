import Model
import Testing

struct WorkloadNameTests {
    @Test(arguments: [
        "spiffe://example.org/db", "spiffe://a_b-c.1/ns/x/sa/Web_1.2-3", "spiffe://e/...",
    ])
    func `a SPIFFE ID has a trust domain and a path`(text: String) throws {
        let workload = try #require(SPIFFEID(text))
        #expect("\(workload)" == text)
        #expect(text.hasPrefix("spiffe://\(workload.trustDomain)/"))
    }

    @Test(arguments: [
        "", "spiffe://", "spiffe:///a", "spiffe://example.org", "spiffe://example.org/",
        "spiffe://example.org/a/",
        "spiffe://example.org//a", "spiffe://example.org/../a", "spiffe://example.org/.",
        "spiffe://Example.org/a",
        "SPIFFE://example.org/a", "spiffe://example.org:80/a", "spiffe://u@example.org/a",
        "spiffe://example.org/a?b",
        "spiffe://example.org/a#b", "spiffe://example.org/%61", "spiffe://exämple.org/a",
        "https://example.org/a",
        " spiffe://example.org/a", "spiffe://example.org/" + String(repeating: "a", count: 2048),
    ])
    func `any other text is none`(text: String) { #expect(SPIFFEID(text) == nil) }
}
