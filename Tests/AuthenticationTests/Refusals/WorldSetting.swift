import Bytes

/// The possible events in a small world.
struct WorldSetting {
    enum Server { case right, wrong }

    struct Request {
        let server: Int
        let page: Page

        static func a(_ page: Page) -> Request { Request(server: 0, page: page) }
        static func b(_ page: Page) -> Request { Request(server: 1, page: page) }
        static func c(_ page: Page) -> Request { Request(server: 2, page: page) }
    }

    let name: String
    var servers: [Server]
    /// The servers where the password changes and comes back.
    var changing: [Int] = []
    var requests: [Request]
    var replicas = 1
    var mayProbe = true
    /// Whether the servers that are right have accepted the version.
    var isKnown = true
    /// The times at which the servers learn the version, which replaces the one that they have accepted.
    var learningTimes: [Int]?
    /// Whether a replica may die while it leads.
    var hasDeath = false
    /// Whether servers may give no verdict.
    var hasTrouble = false
    /// Whether verdicts may take longer than an answer is reserved.
    var isSlow = false
    /// Whether answers may be broken off, and requests go ahead that have waited long.
    var isHasty = false
    /// Whether an operator may have the version tried again.
    var hasResets = false
    var retry: [Milliseconds]?
    /// Milliseconds that may pass at once: longer than each step.
    var times = [31_000, 301_000, 1_801_000]
    /// The moves that come first.
    var story: [World.Move] = []
    /// The limit of requests that wait or are in progress at the same time.
    var width = 3

    static let names = ["a", "b", "c"]
    /// Servers that refuse the version now or later.
    var wrongServers: Int { servers.count { $0 == .wrong } + changing.count }

    func isAlwaysRight(_ server: Int) -> Bool {
        servers[server] == .right && !changing.contains(server) && learningTimes == nil
    }

    static let all = [
        WorldSetting(
            name: "the password of a server changes and comes back", servers: [.right], changing: [0],
            requests: [.a(.open(0)), .a(.forbidden(0))], width: 4),
        WorldSetting(
            name: "it changes at one of two servers", servers: [.right, .right], changing: [1],
            requests: [.a(.open(0)), .b(.open(0)), .b(.forbidden(0))]),
        WorldSetting(
            name: "it changes at three servers", servers: [.right, .right, .right], changing: [0, 1, 2],
            requests: [.a(.open(0)), .b(.open(0)), .c(.open(0))]),
        WorldSetting(
            name: "a server that never accepts it, and forbidden pages of another", servers: [.right, .wrong],
            requests: [.a(.open(0)), .a(.forbidden(0)), .a(.spoiled(0)), .b(.open(0)), .b(.open(1))]),
        WorldSetting(
            name: "two servers that never accept it", servers: [.wrong, .wrong],
            requests: [.a(.open(0)), .a(.open(1)), .b(.open(0))]),
        WorldSetting(
            name: "the first page is forbidden", servers: [.right], requests: [.a(.forbidden(0)), .a(.open(0))],
            isKnown: false),
        WorldSetting(
            name: "two replicas", servers: [.right], changing: [0], requests: [.a(.open(0)), .a(.forbidden(0))],
            replicas: 2),
        WorldSetting(
            name: "two replicas, and it changes at one of two servers", servers: [.right, .right], changing: [1],
            requests: [.a(.open(0)), .b(.open(0)), .a(.forbidden(0))], replicas: 2),
        WorldSetting(
            name: "no probes", servers: [.right, .right], changing: [0],
            requests: [.a(.open(0)), .a(.forbidden(0)), .b(.open(0))], mayProbe: false),
        WorldSetting(
            name: "a new value that two servers know later", servers: [.right, .right],
            requests: [.a(.open(0)), .b(.open(0))], learningTimes: [50_000, 50_000]),
        WorldSetting(
            name: "a new value that one server knows at once", servers: [.right, .right],
            requests: [.a(.open(0)), .b(.open(0)), .b(.open(1))], learningTimes: [0, 50_000],
            times: [61_000, 1_801_000]),
        WorldSetting(
            name: "a replica dies as it leads", servers: [.right], requests: [.a(.open(0)), .a(.forbidden(0))],
            replicas: 2, hasDeath: true),
        WorldSetting(
            name: "a replica has died as it led at two servers", servers: [.right, .right],
            requests: [.a(.open(0)), .b(.open(0)), .a(.forbidden(0))], replicas: 2, hasDeath: true,
            story: [
                .request(2, replica: 0), .verdict(0), .follow(1), .request(0, replica: 1), .request(1, replica: 1),
                .death(1), .time(31_000),
            ]),
        WorldSetting(
            name: "no tries", servers: [.right, .right], changing: [0],
            requests: [.a(.open(0)), .a(.forbidden(0)), .b(.open(0))], retry: []),
        WorldSetting(
            name: "servers that give no verdict", servers: [.right, .right], changing: [0],
            requests: [.a(.open(0)), .a(.forbidden(0)), .b(.open(0))], hasTrouble: true),
        WorldSetting(
            name: "answers that are broken off, at a server that has accepted the version and one that has not",
            servers: [.right, .wrong], changing: [0], requests: [.a(.open(0)), .a(.forbidden(0)), .b(.open(0))],
            isHasty: true),
        WorldSetting(
            name: "answers that are broken off, and no server has accepted the version", servers: [.right, .wrong],
            requests: [.a(.forbidden(0)), .a(.open(0)), .b(.open(0))], isKnown: false, isHasty: true),
        WorldSetting(
            name: "an operator has it tried again", servers: [.right, .wrong], changing: [0],
            requests: [.a(.open(0)), .b(.open(0)), .b(.open(1))], hasResets: true),
        WorldSetting(
            name: "half-hourly tries at one of two servers", servers: [.right, .right], changing: [1],
            requests: [.a(.open(0)), .a(.forbidden(0)), .b(.open(0))], times: [31_000, 1_500_000],
            story: [
                .change(1), .request(2, replica: 0), .verdict(0), .request(2, replica: 0), .verdict(0), .time(31_000),
                .verdict(0), .time(301_000), .verdict(0), .time(1_801_000), .verdict(0), .time(1_801_000), .verdict(0),
                .request(0, replica: 0),
                .verdict(0), .verdict(0), .time(301_000),
            ]),
        WorldSetting(
            name: "verdicts that take longer than a reservation", servers: [.right, .right], changing: [0, 1],
            requests: [.a(.open(0)), .a(.forbidden(0)), .b(.open(0))], isSlow: true),
        WorldSetting(
            name: "a leader that is accepted after the next one was refused", servers: [.right], changing: [0],
            requests: [.a(.open(0)), .a(.forbidden(0))], isSlow: true,
            story: [
                .request(1, replica: 0), .verdict(0), .request(0, replica: 0), .change(0), .time(31_000), .verdict(1),
            ]),
    ]
}

extension WorldSetting: CustomStringConvertible {
    var description: String { name }
}
