// Runs a Go program that was built for js/wasm under numbered schedules. All that the program takes from its host is
// made from the number of the schedule: randomness, the clock, the order of events. Its environment is always the same.
//
//	node host.js WASM_EXEC PROGRAM MODULE
//
// It starts in the directory of the package, which lies in that of the module. Each line of standard input is a run:
//
//	{"schedule": "7", "directory": "/tmp/x", "arguments": ["-test.v"]}
//
// The program writes to the file output in the directory, and the line on standard output is its exit code. Many runs
// share a process since compiling the program takes longer than most of them.
"use strict";

const hostFS = require("fs");
const host = process;
const [wasmExec, program, moduleDirectory] = host.argv.slice(2);
const home = host.cwd();

let random, now, events, lastEvent, directory, output, opened;

// reset makes everything as it was before the first run.
function reset(run) {
	// A linear congruential generator of 64 bits (Knuth's MMIX), of which the upper ones are good.
	let state = BigInt(run.schedule);
	random = () => {
		state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
		return Number(state >> 56n);
	};
	for (let i = 0; i < 8; i++) random(); // small numbers differ in the lower bits alone
	now = 0;
	events = new Map();
	lastEvent = 0;
	directory = run.directory;
	output = hostFS.openSync(directory + "/output", "w");
	opened = new Set();
	host.chdir(home);
}

// The clock moves by 10 microseconds at each look, so that a loop that waits for it ends. It leaps to the next event when
// the program has nothing to do. It counts milliseconds.
const epoch = Date.UTC(2026, 0, 1);
class VirtualDate extends Date {
	constructor(...of) {
		super(...(of.length === 0 ? [VirtualDate.now()] : of));
	}
	static now() { return Math.floor(epoch + now); }
}

// Events happen at their times, and in the order of their requests at one time.
function after(happen, delay) {
	events.set(++lastEvent, { at: now + Math.max(Number(delay) || 0, 0), happen });
	return lastEvent;
}
function happenNext() {
	let id, next;
	for (const [i, e] of events) if (next === undefined || e.at < next.at) [id, next] = [i, e];
	if (next === undefined) return false;
	events.delete(id);
	now = Math.max(now, next.at);
	next.happen();
	return true;
}

// The program sees no path of this machine: one would lie in its memory, and might change what it does. /replay is
// the directory of the run, and /replay/module that of the module.
const root = "/replay", inner = "/replay/module";
const below = (path, dir) => path === dir || path.startsWith(dir + "/");
function real(path) {
	if (below(path, inner)) return moduleDirectory + path.slice(inner.length);
	return below(path, root) ? directory + path.slice(root.length) : path;
}
function virtual(path) {
	if (below(path, directory)) return root + path.slice(directory.length);
	return below(path, moduleDirectory) ? inner + path.slice(moduleDirectory.length) : path;
}

// An operation on a file is over when its call returns, and its answer is the next event.
function answer(callback, operation) {
	let error = null, result;
	try {
		result = operation();
	} catch (err) {
		error = err;
	}
	after(() => callback(error, result), 0);
}
const toOutput = (fd) => (fd === 1 || fd === 2 ? output : fd);
const special = {
	writeSync: (fd, ...of) => hostFS.writeSync(toOutput(fd), ...of),
	write: (fd, buffer, offset, length, position, callback) =>
		answer(callback, () => hostFS.writeSync(toOutput(fd), buffer, offset, length, position)),
	open: (path, flags, mode, callback) => answer(callback, () => {
		const fd = hostFS.openSync(real(path), flags, mode);
		opened.add(fd);
		return fd;
	}),
	close: (fd, callback) => answer(callback, () => {
		opened.delete(fd);
		hostFS.closeSync(fd);
	}),
};
const virtualFS = new Proxy(hostFS, {
	get(target, name) {
		if (special[name]) return special[name];
		const sync = target[`${String(name)}Sync`];
		if (typeof sync !== "function") return target[name];
		return (...of) => {
			const callback = of.pop();
			answer(callback, () => sync.apply(target, of.map((a) => (typeof a === "string" ? real(a) : a))));
		};
	},
});
const virtualProcess = {
	pid: 1, ppid: 0, umask: () => 0o022, cwd: () => virtual(host.cwd()), chdir: (path) => host.chdir(real(path)),
	getuid: () => 0, geteuid: () => 0, getgid: () => 0, getegid: () => 0, getgroups: () => [0],
};
const print = (...of) => hostFS.writeSync(output, of.join(" ") + "\n");

const override = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
override("Date", VirtualDate);
override("performance", { timeOrigin: epoch, now: () => (now += 0.01) });
override("crypto", { getRandomValues: (into) => into.fill(0).set(into.map(random)) });
override("setTimeout", after);
override("clearTimeout", (id) => events.delete(id));
override("fs", virtualFS);
override("path", require("path"));
override("process", virtualProcess);
override("console", { log: print, warn: print, error: print });

// execute runs the program once and returns its exit code.
async function execute(compiled, run) {
	reset(run);
	const go = new globalThis.Go();
	let code = 2, failure;
	go.argv = ["test", ...run.arguments];
	go.env = { HOME: root, TMPDIR: root };
	go.exit = (c) => { code = c; };
	try {
		go.run(new WebAssembly.Instance(compiled, go.importObject)).catch((err) => { failure = err; });
		await new Promise(setImmediate); // a failure of the very start is known only now
		if (failure) throw failure;
		while (!go.exited && happenNext());
		if (!go.exited) { // all goroutines wait for ever: Go prints their stacks
			go._pendingEvent = { id: 0 };
			go._resume();
		}
	} catch (err) {
		print(err.stack);
		code = 2;
	}
	for (const fd of opened) hostFS.closeSync(fd);
	hostFS.closeSync(output);
	return code;
}

// readLine returns the next line of standard input, or undefined at its end. A line comes only after the answer to the
// one before.
function readLine() {
	const chunk = Buffer.alloc(1 << 16);
	for (let line = ""; ;) {
		const n = hostFS.readSync(0, chunk);
		if (n === 0) return undefined;
		line += chunk.toString("utf8", 0, n);
		if (line.endsWith("\n")) return line;
	}
}

async function main() {
	require(wasmExec);
	const compiled = new WebAssembly.Module(hostFS.readFileSync(program));
	for (let line; (line = readLine()) !== undefined;) {
		hostFS.writeSync(1, await execute(compiled, JSON.parse(line)) + "\n");
	}
}
main();
