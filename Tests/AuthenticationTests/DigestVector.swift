import Testing

/// One published or computed answer to a Digest challenge.
struct DigestVector: Sendable, CustomTestStringConvertible {
    let id: String
    let source: String
    let user: String
    let password: String
    let realm: String
    let nonce: String
    let target: String
    var clientNonce = ""
    var algorithm: String?
    var qop = "auth"
    var method = "GET"
    var body = ""
    var count: UInt32 = 1
    var userhash: String?
    let response: String

    var testDescription: String { id }

    static let all: [DigestVector] = [
        DigestVector(
            id: "rfc2617-3.5", source: "RFC 2617 3.5", user: "Mufasa", password: "Circle Of Life",
            realm: "testrealm@host.com", nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093", target: "/dir/index.html",
            clientNonce: "0a4f113b", response: "6629fae49393a05397450978507c4ef1"),
        DigestVector(
            id: "rfc2069-2.4", source: "RFC 2069 2.4 with erratum 749 (printed e966c932... is wrong)",
            user: "Mufasa", password: "CircleOfLife", realm: "testrealm@host.com",
            nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093", target: "/dir/index.html", qop: "",
            response: "1949323746fe6a43ef61f9606e7febea"),
        DigestVector(
            id: "rfc7616-3.9.1-md5", source: "RFC 7616 3.9.1", user: "Mufasa", password: "Circle of Life",
            realm: "http-auth@example.org", nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
            target: "/dir/index.html", clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", algorithm: "MD5",
            response: "8ca523f5e9506fed4657c9700eebdbec"),
        DigestVector(
            id: "rfc7616-3.9.1-sha256", source: "RFC 7616 3.9.1", user: "Mufasa", password: "Circle of Life",
            realm: "http-auth@example.org", nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
            target: "/dir/index.html", clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
            algorithm: "SHA-256", response: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        DigestVector(
            id: "rfc7616-3.9.2-sha512-256", source: "RFC 7616 3.9.2, corrected as in errata 4897 (real SHA-512/256)",
            user: "Jäsøn Doe", password: "Secret, or not?", realm: "api@example.org",
            nonce: "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", target: "/doe.json",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", algorithm: "SHA-512-256",
            userhash: "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b",
            response: "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"),
        DigestVector(
            id: "computed-MD5-auth", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "MD5", qop: "auth", method: "POST", body: "hello",
            response: "86e51cf1c66a00e9748521a13f00e66f"),
        DigestVector(
            id: "computed-MD5-auth-int", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "MD5", qop: "auth-int", method: "POST", body: "hello",
            response: "1f5b4079c49ef15759ea1bb109077f3b"),
        DigestVector(
            id: "computed-MD5-sess-auth", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "MD5-sess", qop: "auth", method: "POST", body: "hello",
            response: "20ba0943d438179774a1d2de9b1f82ee"),
        DigestVector(
            id: "computed-MD5-sess-auth-int", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "MD5-sess", qop: "auth-int", method: "POST", body: "hello",
            response: "fbf06db8a88f86a37b37cce5e386510e"),
        DigestVector(
            id: "computed-SHA-256-auth", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-256", qop: "auth", method: "POST", body: "hello",
            response: "2b59e596a4bf1f488a1bb2cb2986ff8d9bd6c06c48353f4aa544e95c45a0e100"),
        DigestVector(
            id: "computed-SHA-256-auth-int", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-256", qop: "auth-int", method: "POST", body: "hello",
            response: "4dc6a2ebce048790447f20c500c71fbfb004936ab4b03625a9c9badc2f495e8e"),
        DigestVector(
            id: "computed-SHA-256-sess-auth", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-256-sess", qop: "auth", method: "POST", body: "hello",
            response: "f85784804d756ad838e0b36323a867b10379732200f79727c1fc67cc2bd0edcf"),
        DigestVector(
            id: "computed-SHA-256-sess-auth-int", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-256-sess", qop: "auth-int", method: "POST", body: "hello",
            response: "4a9e1b2c98d0782ba02f5479b79776a36e3fae0f49685b6e5fc3e8a995c57465"),
        DigestVector(
            id: "computed-SHA-512-256-auth", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-512-256", qop: "auth", method: "POST", body: "hello",
            response: "938347322d58dfd063f9cc11203699a745cccdc07f4cfff7fc26c4414717403c"),
        DigestVector(
            id: "computed-SHA-512-256-auth-int", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-512-256", qop: "auth-int", method: "POST", body: "hello",
            response: "a08e12ffad7e92f573f1d77a425a9734dcf276db90ffc7dbe96afcff319564e6"),
        DigestVector(
            id: "computed-SHA-512-256-sess-auth", source: "computed from the RFC 7616 3.4 formulas", user: "Mufasa",
            password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc", target: "/a?b=c",
            clientNonce: "xyz", algorithm: "SHA-512-256-sess", qop: "auth", method: "POST", body: "hello",
            response: "748380bb450f8fff12230458823b3a131b232ab1da72f07278d8a880d64fc7ce"),
        DigestVector(
            id: "computed-SHA-512-256-sess-auth-int", source: "computed from the RFC 7616 3.4 formulas",
            user: "Mufasa", password: "Circle of Life", realm: "http-auth@example.org", nonce: "abc",
            target: "/a?b=c", clientNonce: "xyz", algorithm: "SHA-512-256-sess", qop: "auth-int", method: "POST",
            body: "hello", response: "1f7dc137d253cda9161992ac6268f8c2bc99a4093013302c7ca3730158c39bfb"),
        DigestVector(
            id: "computed-quoted-realm",
            source: "realm with escaped quote: unescaped text is hashed (RFC 7616 3.4.2 unq())", user: "u",
            password: "p", realm: "a\"b\\c", nonce: "n", target: "/", clientNonce: "c",
            response: "6a43da4e41cb46b0edf5ff2316839e13"),
        DigestVector(
            id: "computed-colon-pw", source: "computed; password may hold colons", user: "u", password: "a:b:c",
            realm: "r", nonce: "n", target: "/", clientNonce: "c", response: "b7590ba169592ce118a3ed27c0b3f487"),
        DigestVector(
            id: "computed-nc-2", source: "second request on one nonce: nc=00000002", user: "u", password: "p",
            realm: "r", nonce: "n", target: "/2", clientNonce: "c", count: 2,
            response: "527bac5459e8b43f698eb3301aa7ae0c"),
        DigestVector(
            id: "computed-utf8", source: "charset=UTF-8: NFC UTF-8 hashed (RFC 7616 4)", user: "müller",
            password: "päss€", realm: "r", nonce: "n", target: "/", clientNonce: "c", algorithm: "SHA-256",
            response: "a99b19a2d54086a6f3ca1032cc29a15993f69401c47767c6b2ba8b7a382e582f"),
    ]
}
