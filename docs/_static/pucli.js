// A button on each block of code that copies it, without the output and without prompts.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    if (block.closest(".output, .highlight-text")) continue; // nobody copies outputs and formulas
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      const lines = block.querySelector("pre").innerText.split("\n");
      const prompt = [/^(>>>|\.\.\.)( |$)/, /^\$ /].find((one) => lines.some((line) => one.test(line)));
      const kept = prompt ? lines.filter((line) => prompt.test(line)).map((line) => line.replace(prompt, "")) : lines;
      await navigator.clipboard.writeText(kept.join("\n").trimEnd());
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.append(button);
  }
});
