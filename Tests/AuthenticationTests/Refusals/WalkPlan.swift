import Bytes

/// The conditions of a walk: servers and their troubles, replicas, the rule's settings, and the clients' behaviour.
struct WalkPlan {
    enum Kind: CaseIterable {
        /// All servers accept the version.
        case peace
        case forbidden
        /// One server refuses it for a while.
        case local
        /// All servers refuse it for a while.
        case central
        case tenServers
        /// All servers refuse it, and one of them accepts it again.
        case straggler
        /// A server that has never accepted it refuses it at first.
        case late
        /// One or two other servers never accept it.
        case hostile
        case twoHostile
        /// A further server accepts it every other time.
        case flips
        case never
        /// The first request may be for a forbidden page.
        case first
        /// Twenty requests at once, now and then.
        case burst
        case noProbe
        /// No request can be repeated.
        case noSamples
        /// Servers are in trouble now and then, and give no verdict.
        case flaky
        /// Answers come back seconds later, and out of order.
        case slow
        /// Verdicts take long, longer than others wait for a leader.
        case stalling
        /// One page that was open becomes forbidden.
        case pageGone
        /// One page that was open gets no verdict.
        case pageFails
        /// The pages that were open become forbidden.
        case gone
        /// The version replaces an accepted one, and the servers know it later than the proxy.
        case rotation
        /// A replica dies as it leads.
        case death
        /// Clients leave before their answers come back.
        case leaving
        /// A server that has never accepted the version does not answer its first request.
        case hanging
        /// An operator has the version tried again.
        case resets
        /// The clock is set back.
        case clock
        /// The rule names the page that the proxy asks for (`probe PATH`).
        case probePath
        /// The rule has steps of its own (`retry`).
        case steps
        /// A paused version is not tried again (`retry never`).
        case retryNever
    }

    enum Hostility { case never, flips }

    struct Server {
        let name: String
        /// The longest time of an exchange.
        var latency: Int
        /// The time in which it refuses the version.
        var trouble: Range<Int>?
        var hostility: Hostility?

        func isRight(at time: Int) -> Bool { !(trouble?.contains(time) ?? false) }
    }

    var kind: Kind?
    var servers: [Server]
    var replicas = 1
    var mayProbe = true
    var retry: [Milliseconds]?
    /// The page that the proxy asks for.
    var probedPage: Page?
    /// The percentage of requests that get no verdict.
    var flakiness = 0
    /// The clients of a hundred that leave before their answer comes back.
    var haste = 0
    /// The percentage of requests for pages that are refused.
    var badness = 0
    var areAllPosted = false
    /// The number of different pages of a kind.
    var pages = 6
    /// The number of requests, from the first one on, that cannot be repeated.
    var posted = 0
    /// The milliseconds that the first server takes for its first answer; nil: as long as for others.
    var hang: Int?
    var comesInBursts = false
    /// The time between two requests, on average.
    var pace = 1000
    /// The time at which the first server's open pages become forbidden, or one of them forbidden or faulty.
    var gone: Int?
    /// The time at which a replica dies, together with its next leader.
    var death: Int?
    /// Whether another value came between the accepted one and this one, which no server was asked with.
    var isRotatedTwice = false
    /// The times at which an operator has the version tried again.
    var resets: [Int] = []
    /// The time at which the clock is set back by some hours.
    var setBack: Int?

    static let endless = 1_000_000 * minute

    /// A scene's plan.
    init(_ servers: [Server]) { self.servers = servers }

    init(drawn random: inout RandomNumbers) {
        let kind = random.one(of: Kind.allCases)
        self.kind = kind
        let count =
            switch kind {
            case .tenServers, .straggler: 10
            case .death: random.one(of: [1, 1, 2, 3])
            case .peace: random.one(of: [1, 3, 6])
            case .twoHostile: 3
            case .first, .pageGone: 1
            case .late, .hanging: random.one(of: [1, 2])
            case .never: random.one(of: [1, 3])
            default: random.within(1...3)
            }
        servers = (0..<count).map { Server(name: "s\($0)", latency: random.one(of: [20, 100, 300])) }
        badness = random.one(of: [0, 30, 80, 97])
        pace = random.one(of: [10, 200, 3000, 40_000])
        replicas = random.one(of: [1, 1, 1, 2, 3])
        mayProbe = kind != .noProbe
        areAllPosted = kind == .noSamples
        flakiness = kind == .flaky || kind == .stalling ? 10 : 0
        haste = kind == .leaving ? 40 : 0
        comesInBursts = (kind == .burst || kind == .central) && random.happens(60)
        drawTrouble(kind, &random)
        drawOthers(kind, &random)
    }

    private mutating func drawTrouble(_ kind: Kind, _ random: inout RandomNumbers) {
        let isQuick = [.slow, .gone, .pageGone, .pageFails, .death, .stalling].contains(kind)
        let start = random.within(isQuick ? 3000...20_000 : 5000...400_000)
        let duration =
            kind == .slow
            ? random.one(of: [5000, 40_000, 200_000, 299_000])
            : random.one(of: [50, 3000, 5000, 29_000, 40_000, 200_000, 299_000, 600_000, 4_000_000, Self.endless])
        let trouble = start..<start + duration
        switch kind {
        case .local, .noProbe, .noSamples, .burst, .leaving, .resets, .clock, .probePath, .retryNever:
            if random.happens(80) { servers[0].trouble = trouble }
        case .steps:
            let isCentral = random.happens(50)
            for index in servers.indices where index == 0 || isCentral { servers[index].trouble = trouble }
        case .slow: servers[0].trouble = trouble
        case .death:
            // Before the trouble, or in it.
            let isEarly = random.happens(50)
            death = random.within(isEarly ? 1000...10_000 : 20_000...60_000)
            let start = isEarly ? random.within(40_000...100_000) : start
            if random.happens(60) {
                servers[0].trouble = start..<start + random.one(of: [5000, 40_000, 200_000, 299_000, Self.endless])
            }
        case .central, .tenServers, .stalling: for index in servers.indices { servers[index].trouble = trouble }
        case .straggler:
            for index in servers.indices { servers[index].trouble = start..<Self.endless }
            servers[random.below(servers.count)].trouble = start..<start + random.within(10 * minute...100 * minute)
        case .late:
            servers[0].trouble = 0..<random.one(of: [100_000, 40 * minute, 100 * minute])
        case .never: for index in servers.indices { servers[index].trouble = 0..<Self.endless }
        case .rotation:
            for index in servers.indices {
                servers[index].trouble = 0..<(random.happens(30) ? 0 : random.within(20_000...50_000))
            }
        case .gone, .pageFails: gone = start
        case .pageGone:
            gone = start
            // All samples have been refused once.
            if random.happens(30) { servers[0].trouble = start - 2000..<start - 1000 }
        case .peace, .forbidden, .hostile, .twoHostile, .flips, .first, .flaky, .hanging: break
        }
    }

    private mutating func drawOthers(_ kind: Kind, _ random: inout RandomNumbers) {
        let hostile: [Hostility] =
            switch kind {
            case .hostile: [.never]
            case .twoHostile: [.never, .never]
            case .flips: [.flips]
            default: []
            }
        for (index, hostility) in hostile.enumerated() {
            servers.append(Server(name: "h\(index)", latency: 50, hostility: hostility))
        }
        switch kind {
        case .slow: pace = random.one(of: [100, 300])
        case .gone: (pace, badness) = (random.one(of: [100, 300, 1000]), 0)
        case .pageGone: (pace, badness, pages) = (random.one(of: [100, 300, 1000]), 0, 3)
        case .pageFails: (pace, badness) = (random.one(of: [100, 300, 1000]), 30)
        case .death: (pace, replicas) = (random.one(of: [100, 300, 1000]), random.within(2...3))
        case .rotation:
            (pace, badness) = (random.one(of: [200, 1000, 10_000]), random.one(of: [0, 0, 30]))
            isRotatedTwice = random.happens(30)
            if random.happens(30) { posted = 100 }
            if random.happens(30) { hang = 8000 }
        case .straggler: (pace, badness, replicas) = (random.one(of: [40_000, 100_000]), 0, 1)
        case .late: (pace, badness, pages) = (random.one(of: [3000, 40_000, 400_000]), 0, random.one(of: [1, 6]))
        case .hanging: (pace, badness, hang) = (random.one(of: [200, 3000]), 0, 60_000)
        case .probePath: (probedPage, areAllPosted) = (.open(100), random.happens(30))
        case .steps: retry = random.one(of: [[5000, 60_000, 300_000], [120_000], [60_000, 600_000]])
        case .retryNever: retry = []
        case .resets: resets = (1...3).map { _ in random.within(10_000...1_000_000) }
        case .clock: setBack = random.within(10_000...1_000_000)
        default: break
        }
    }

    /// The servers besides that one which refuse the version at any time.
    func wrongOthers(than server: Int) -> Int {
        servers.indices.count { $0 != server && (!isRightForEver($0) || $0 == 0 && gone != nil) }
    }

    func isRightForEver(_ server: Int) -> Bool { servers[server].trouble == nil && servers[server].hostility == nil }
}
