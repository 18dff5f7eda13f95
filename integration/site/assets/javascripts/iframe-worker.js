// A browser starts no worker for a page that was opened from a directory. There the search runs in a hidden frame
// instead: this Worker has what the search uses of one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.frame = new Promise((ready) => {
        frame.onload = () => {
          frame.onload = null;
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = frame.contentDocument.createElement("script");
          script.src = url;
          script.onload = () => ready(inside);
          frame.contentDocument.head.append(script);
        };
      });
      if (document.body) document.body.append(frame);
      else addEventListener("DOMContentLoaded", () => document.body.append(frame));
    }
    postMessage(data) {
      this.frame.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
