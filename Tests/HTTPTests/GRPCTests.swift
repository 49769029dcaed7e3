import Bytes
import HTTP
import Testing

struct GRPCTests {
    @Test(arguments: [
        ("1H", 3_600_000), ("2M", 120_000), ("30S", 30_000), ("250m", 250), ("1u", 1), ("1000u", 1), ("1001u", 2),
        ("1n", 1), ("0n", 0), ("1000001n", 2), ("99999999H", 359_999_996_400_000),
    ])
    func `a deadline is read in milliseconds`(text: String, milliseconds: Int) {
        #expect(GRPC.timeout(Array(text.utf8).span) == Milliseconds(milliseconds))
    }

    @Test(arguments: ["", "S", "1", "1s", "-1S", "1 S", "1.5S", "100000000S", "1SS", "+1S"])
    func `what is no deadline counts as none`(text: String) {
        #expect(GRPC.timeout(Array(text.utf8).span) == nil)
    }

    @Test(arguments: [
        ("application/grpc", true), ("Application/GRPC+proto", true), ("application/grpc-web", true),
        ("application/grp", false), ("text/plain", false), ("", false),
    ])
    func `a type is that of calls, with any encoding`(text: String, isCall: Bool) {
        #expect(GRPC.isMediaType(Array(text.utf8).span) == isCall)
    }

    @Test func `codes are read`() {
        for (text, code) in [("16", GRPC.Code.unauthenticated), ("0", .ok), ("7", .permissionDenied)] {
            #expect(GRPC.Code(Array(text.utf8).span) == code)
        }
        for text in ["", "3", "016", "1 6", "x", "99999999"] {
            #expect(GRPC.Code(Array(text.utf8).span) == nil, "\(text)")
        }
    }
}
