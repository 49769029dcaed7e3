import COpenSSL
import Testing

@testable import TLS

@Suite struct HostNameMatchTests {
    private static let patterns = [
        "", ".", "*", "*.", ".*", "a", "A", "a.b", "*.b", "*.b.c", "*.B.C", "*.*.c", "*a.b.c", "a*.b.c", "a.*.c",
        "a.b.c",
        ".b.c", "a.b.c.", "*.b.c.", "*..c", "*.-b.c", "*.b-.c", "*.b_.c", "xn--a.b.c", "*.xn--b.c", "xn--*.b.c",
        "a b.c",
        "*.1.2", "**.b.c", "*.b.c.d",
    ]
    private static let hosts = [
        "", ".", "a", "b", "a.b", "a.b.c", "a.b.c.", ".b.c", "..b.c", "x.a.b.c", "-a.b.c", "a_.b.c", "xn--a.b.c",
        "a.xn--b.c",
        "a.-b.c", "a.b-.c", "a.b_.c", "*.b.c", "a.1.2", "A.B.C", "é.b.c", "a.b.c.d",
    ]

    private func matches(_ pattern: String, _ host: String) -> Bool {
        Certificate.Names.HostMatch.matches(presented: Array(pattern.utf8), host: Array(host.utf8))
    }

    @Test func `No pattern fits a host that OpenSSL says it does not fit`() throws {
        let root = TestCertificate.root()
        var both = 0
        for pattern in Self.patterns where !pattern.isEmpty {
            let count = UInt8(pattern.utf8.count)
            let bytes = [0x30, count + 2, 0x82, count] + Array(pattern.utf8)
            let name = "DER:" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
            let leaf = TestCertificate.leaf(by: root) { $0["subjectAltName"] = name }.certificate
            for host in Self.hosts where !host.isEmpty {
                let flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
                let theirs = X509_check_host(leaf.handle, host, host.utf8.count, flags, nil) == 1
                if matches(pattern, host) {
                    #expect(theirs, "\(pattern) for \(host)")
                    both += 1
                }
            }
        }
        #expect(both > 15)
    }

    @Test func `An empty name fits nothing`() {
        for other in Self.patterns + Self.hosts {
            #expect(!matches("", other))
            #expect(!matches(other, ""))
        }
    }
}
