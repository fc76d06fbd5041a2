// Search without a web server. Browsers refuse to start a Worker on a page that was opened from a file, so on such a page the
// script of the search runs in a hidden frame instead. The plugin `offline` of mkdocs.yml looks for a script of this name and
// would load one from the network if there were none.
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.queue = []; // messages that were sent before the script was loaded
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)));
      this.load(url).then(() => {
        this.loaded = true;
        this.queue.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    load(url) {
      const inner = this.frame.contentDocument;
      const script = inner.createElement("script");
      script.src = url;
      const loaded = new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = () => reject(new Error(`cannot load ${url}`));
      });
      inner.head.append(script);
      return loaded;
    }

    postMessage(data) {
      if (this.loaded) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      else this.queue.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  }
  // The search script asks for IFrameWorker to find out that it runs in a frame.
  window.IFrameWorker = window.Worker = FrameWorker;
}
