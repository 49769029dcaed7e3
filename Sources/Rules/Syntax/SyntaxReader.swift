/// Turns tokens into directives with their blocks, over all files. Included files and open blocks are two explicit
/// stacks, so that neither nesting nor a circle of includes can exhaust the call stack.
struct SyntaxReader<Reader: SourceReader> {
    private let reader: Reader
    private let log: Diagnostic.Log
    private(set) var sources = SourceMap()
    private var frames: [Frame] = []
    private var blocks: [OpenBlock] = []
    private var roots: [SyntaxNode] = []
    private var pending: SyntaxNode?
    /// Whether a block was closed and nothing has followed on its line.
    private var isBehindBlock = false

    /// A file that is being read.
    private struct Frame {
        let file: Int
        let path: String
        let tokens: [Token]
        /// The number of blocks that were open when the file began; it closes no more and leaves no more open.
        let depth: Int
        var next = 0
    }

    private struct OpenBlock {
        var node: SyntaxNode
        var block: SyntaxNode.Block
    }

    init(reader: Reader, log: Diagnostic.Log) {
        self.reader = reader
        self.log = log
    }

    /// Reads the file. Throws if the first file itself cannot be read; other errors are reported.
    mutating func read(_ path: String) throws(SourceError) -> [SyntaxNode] {
        let bytes = try reader.bytes(at: path, limit: SyntaxLimits.fileSize)
        open(path, bytes, includedFrom: nil)
        while let frame = frames.last {
            guard frame.next < frame.tokens.count else {
                finishFile(frame)
                continue
            }
            frames[frames.count - 1].next += 1
            accept(frame.tokens[frame.next], in: frame)
        }
        return roots
    }

    private mutating func open(_ path: String, _ bytes: [UInt8], includedFrom range: SourceRange?) {
        let number = sources.append(SourceFile(path: path, bytes: bytes, includedFrom: range))
        var lexer = Lexer(bytes, file: number, log: log)
        lexer.run()
        var tokens = lexer.tokens
        let mask = SecretMask(&tokens, comments: lexer.comments, of: bytes)
        sources.hide(mask.ranges, in: number)
        frames.append(Frame(file: number, path: path, tokens: tokens, depth: blocks.count))
    }

    private mutating func accept(_ token: Token, in frame: Frame) {
        let isBehindBlock = isBehindBlock
        self.isBehindBlock = token.kind == .close
        switch token.kind {
        case .word where isBehindBlock && token.isWord("as"):
            pending = takeListener(of: frame.file) ?? SyntaxNode(name: token)
            if pending?.block != nil { pending?.arguments.append(token) }
        case .word, .string:
            if pending == nil { pending = SyntaxNode(name: token) } else { pending?.arguments.append(token) }
        case .newline, .semicolon:
            finishDirective()
        case .open:
            openBlock(token, in: frame)
        case .close:
            finishDirective()
            if blocks.count > frame.depth {
                closeBlock(isClosed: true)
            } else {
                log.report(at: token.range, "'}' without a '{'")
            }
        }
    }

    private mutating func openBlock(_ brace: Token, in frame: Frame) {
        if pending == nil, let last = takeLast(of: frame.file) {
            log.report(at: brace.range, "write the '{' on the line of its directive")
            pending = last
        }
        if pending == nil { log.report(at: brace.range, "a '{' needs a directive before it") }
        if let block = pending?.block { log.report(at: block.brace, "write one block, after all other words") }
        if blocks.count >= SyntaxLimits.blockDepth {
            log.report(at: brace.range, "blocks are nested more than \(SyntaxLimits.blockDepth) deep")
            frames[frames.count - 1].next = frame.tokens.count
            pending = nil
            while blocks.count > frame.depth { closeBlock(isClosed: true) }
            return
        }
        let node = pending ?? SyntaxNode(name: brace)
        pending = nil
        blocks.append(OpenBlock(node: node, block: SyntaxNode.Block(brace: brace.range)))
    }

    private mutating func closeBlock(isClosed: Bool) {
        guard var open = blocks.popLast() else { return }
        open.block.isClosed = isClosed
        open.node.block = open.block
        // A block without a directive was reported at its brace; its content is skipped.
        if open.node.name.kind != .open { attach(open.node) }
    }

    private mutating func finishDirective() {
        guard let node = pending else { return }
        pending = nil
        if node.name.isWord("include") { include(node) } else { attach(node) }
    }

    private mutating func finishFile(_ frame: Frame) {
        let framesBefore = frames.count
        finishDirective()
        // A last line `include PATH` without a line end has pushed its file; this file ends when that one was read.
        guard frames.count == framesBefore else { return }
        while blocks.count > frame.depth {
            if let open = blocks.last {
                let name = open.node.name
                let whose = name.kind == .open ? "" : " of \(name.shown)"
                log.report(at: open.block.brace, "the block\(whose) is not closed")
            }
            closeBlock(isClosed: false)
        }
        frames.removeLast()
    }

    private mutating func attach(_ node: SyntaxNode) {
        if blocks.isEmpty { roots.append(node) } else { blocks[blocks.count - 1].block.nodes.append(node) }
    }

    /// Takes back the directive that has just ended, if a block could still belong to it.
    private mutating func takeLast(of file: Int) -> SyntaxNode? {
        let last = blocks.isEmpty ? roots.last : blocks[blocks.count - 1].block.nodes.last
        guard let last, last.block == nil, last.name.range.file == file else { return nil }
        if blocks.isEmpty { roots.removeLast() } else { blocks[blocks.count - 1].block.nodes.removeLast() }
        return last
    }

    /// Takes back a `listen` whose block has just ended: `listen unix:PATH { … } as NAME`.
    private mutating func takeListener(of file: Int) -> SyntaxNode? {
        guard blocks.isEmpty, let last = roots.last, last.name.isWord("listen"), last.name.range.file == file else {
            return nil
        }
        return roots.removeLast()
    }

    private mutating func include(_ node: SyntaxNode) {
        guard let target = node.arguments.first, node.arguments.count == 1, !target.text.isEmpty,
            let including = sources.file(node.name.range.file)
        else {
            log.report(at: node.range, "'include' takes the path of one file")
            return
        }
        let path = including.resolve(target.text)
        if frames.contains(where: { $0.path == path }) {
            log.report(at: target.range, "\(target.shown) includes itself, directly or through other files")
        } else if frames.count > SyntaxLimits.includeDepth {
            log.report(at: target.range, "files are included more than \(SyntaxLimits.includeDepth) deep")
        } else if sources.files.count >= SyntaxLimits.files {
            log.report(at: target.range, "more than \(SyntaxLimits.files) files are included")
        } else {
            do throws(SourceError) {
                let bytes = try reader.bytes(at: path, limit: SyntaxLimits.fileSize)
                open(path, bytes, includedFrom: node.range)
            } catch {
                let isGlob = target.text.utf8.contains { "*?[".utf8.contains($0) }
                let hint = isGlob ? "; 'include' takes no '*': write one 'include' for each file" : ""
                log.report(at: target.range, "cannot read \(Token.shown(path)): \(error)\(hint)")
            }
        }
    }
}

/// The limits of a rule file: generous for people who write, small compared with what a machine can send.
enum SyntaxLimits {
    static let fileSize = 1 << 20
    static let files = 64
    static let includeDepth = 8
    static let blockDepth = 8
    /// The limit of `challenge` directives, and of `route` directives.
    static let rules = 65_536
}
