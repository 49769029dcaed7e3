import Glibc
import IO

/// Measures the release binary beside HAProxy on this machine. Exits 0, 1 (a gate failed) or 2 (it could not measure).
@main
struct Bench {
    static func main() {
        setvbuf(stdout, nil, Int32(_IOLBF), 0)
        signal(SIGPIPE, SIG_IGN)
        do throws(BenchError) {
            let options = try Options(CommandLine.arguments.dropFirst())
            Descriptors.raiseLimit()
            Processors.pinLoad()
            let loop = try makeLoop(0)
            let originLoop = try makeLoop(1)
            loop.spawn { await measure(options, on: loop, originLoop: originLoop) }
            while true { pause() }
        } catch {
            fail(error)
        }
    }

    private static func measure(_ options: Options, on loop: EventLoop, originLoop: EventLoop) async {
        do throws(BenchError) {
            let suite = try Suite(options, on: loop, originLoop: originLoop)
            let report = await suite.run()
            print(report.text)
            exit(report.passes ? 0 : 1)
        } catch {
            fail(error)
        }
    }

    private static func makeLoop(_ index: Int) throws(BenchError) -> EventLoop {
        do throws(IOError) {
            let loop = try EventLoop(index: index)
            loop.start()
            return loop
        } catch {
            throw .connection(error)
        }
    }

    private static func fail(_ error: BenchError) -> Never {
        fputs("bench: \(error)\n", stderr)
        if case .usage = error { fputs(Options.usage + "\n", stderr) }
        exit(2)
    }
}
