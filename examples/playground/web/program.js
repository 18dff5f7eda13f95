// The program of all processes.

// load fetches and compiles it. progress gets the part that has come, from 0 to 1, if the server says how much there
// is.
export async function load(address, progress) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  const size = Number(response.headers.get("Content-Length"));
  const reader = response.body.getReader();
  const first = await reader.read();
  let come = 0;
  const body = new ReadableStream({
    start(stream) {
      if (first.done) return stream.close();
      come = first.value.length;
      stream.enqueue(first.value);
    },
    async pull(stream) {
      const { done, value } = await reader.read();
      if (done) return stream.close();
      come += value.length;
      if (size) progress(Math.min(1, come / size));
      stream.enqueue(value);
    },
  });
  // Some servers take a file.gz for a file that they have compressed, so that the browser has unpacked it already.
  const packed = first.value?.[0] === 0x1f && first.value?.[1] === 0x8b;
  const bytes = packed ? body.pipeThrough(new DecompressionStream("gzip")) : body;
  return WebAssembly.compileStreaming(new Response(bytes, { headers: { "Content-Type": "application/wasm" } }));
}
